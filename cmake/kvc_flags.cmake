# SPDX-License-Identifier: Apache-2.0
# kvc_flags: warnings and sanitizers, linked PRIVATE by every target of ours and never exported.
add_library(kvc_flags INTERFACE)
target_compile_options(kvc_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough)
# GCC 12 at -O3 sees overlaps and overruns in its own std::string and std::vector when it inlines them
# (GCC bugs 105651, 105329). Clang and the address sanitizer look for the same.
foreach(false_alarm restrict array-bounds stringop-overflow stringop-overread)
  target_compile_options(kvc_flags INTERFACE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-${false_alarm}>)
endforeach()
if(KVC_WERROR)
  target_compile_options(kvc_flags INTERFACE -Werror)
endif()
if(KVC_SANITIZE)
  target_compile_options(kvc_flags INTERFACE -fsanitize=${KVC_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(kvc_flags INTERFACE -fsanitize=${KVC_SANITIZE})
endif()
