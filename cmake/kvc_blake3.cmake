# SPDX-License-Identifier: Apache-2.0
# kvc_blake3: the official C library of BLAKE3, as a target to link. Where the distribution has a
# CMake package (Ubuntu 24.04: libblake3-dev) that one; else from the C sources that Debian 12 ships
# inside librust-blake3-dev, with the x86-64 assembly, which picks the CPU's best at run time.
if(NOT TARGET kvc_blake3)
  find_package(BLAKE3 CONFIG QUIET)
  if(TARGET BLAKE3::blake3)
    add_library(kvc_blake3 INTERFACE)
    target_link_libraries(kvc_blake3 INTERFACE BLAKE3::blake3)
  else()
    file(GLOB kvc_blake3_folders /usr/share/cargo/registry/blake3-*/c)  # the version is in the name
    find_path(KVC_BLAKE3_SOURCE_DIR blake3_dispatch.c HINTS ${kvc_blake3_folders} NO_CACHE
      NO_DEFAULT_PATH)
    if(NOT KVC_BLAKE3_SOURCE_DIR)
      message(FATAL_ERROR "BLAKE3 is missing: install libblake3-dev (Ubuntu 24.04, Debian 13) "
        "or librust-blake3-dev (Debian 12).")
    endif()
    add_library(kvc_blake3 STATIC ${KVC_BLAKE3_SOURCE_DIR}/blake3.c
      ${KVC_BLAKE3_SOURCE_DIR}/blake3_dispatch.c ${KVC_BLAKE3_SOURCE_DIR}/blake3_portable.c)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
      foreach(kind sse2 sse41 avx2 avx512)
        target_sources(kvc_blake3 PRIVATE
          ${KVC_BLAKE3_SOURCE_DIR}/blake3_${kind}_x86-64_unix.S)
      endforeach()
    else()
      target_compile_definitions(kvc_blake3 PRIVATE BLAKE3_USE_NEON=0)
    endif()
    target_include_directories(kvc_blake3 SYSTEM PUBLIC ${KVC_BLAKE3_SOURCE_DIR})
  endif()
endif()
