# SPDX-License-Identifier: Apache-2.0
# kvc_header_test(<target> LIBRARY kvc::protocol HEADERS kvc/protocol/int.h …)
#   Compiles each public header alone, and twice in one file: it must need no other one before it,
#   and bear being included again.
function(kvc_header_test target)
  if(NOT KVC_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "LIBRARY" "HEADERS" ${ARGN})
  set(sources)
  foreach(header IN LISTS arg_HEADERS)
    string(MAKE_C_IDENTIFIER ${header} name)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/header_tests/${name}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARY} kvc_flags)
endfunction()
