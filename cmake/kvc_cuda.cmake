# SPDX-License-Identifier: Apache-2.0
# KVC_CUDA=AUTO|ON|OFF: whether the CUDA device is built. AUTO: where nvcc is found. Sets KVC_HAVE_CUDA.
# The runtime is linked statically and loads the driver itself when it is first asked, so what is built
# here starts on machines without a driver.
set(KVC_CUDA AUTO CACHE STRING "Build the CUDA device: AUTO (where nvcc is found), ON or OFF")
set_property(CACHE KVC_CUDA PROPERTY STRINGS AUTO ON OFF)
set(KVC_HAVE_CUDA OFF)
if(NOT KVC_CUDA STREQUAL "OFF")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90 100)
  endif()
  if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER)
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit 12.5 REQUIRED)  # cudaGetDriverEntryPointByVersion
    set(KVC_HAVE_CUDA ON)
  elseif(KVC_CUDA STREQUAL "ON")
    message(FATAL_ERROR "KVC_CUDA=ON, but there is no nvcc that works: put it in PATH, or set CUDACXX")
  endif()
endif()
message(STATUS "CUDA device: ${KVC_HAVE_CUDA}")
