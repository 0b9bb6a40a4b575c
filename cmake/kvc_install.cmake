# SPDX-License-Identifier: Apache-2.0
# Installs kvc::protocol as the package kvconform. Only this library is exported: the others serve
# programs of this tree.
include(CMakePackageConfigHelpers)

set(KVC_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kvconform)

# typed_json.h is not installed: its library is not, and it would ask every user for a JSON library.
install(TARGETS kvc_protocol EXPORT kvconform-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT protocol)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/kvc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT protocol
  FILES_MATCHING PATTERN "*.h" PATTERN "typed_json.h" EXCLUDE)
install(EXPORT kvconform-targets NAMESPACE kvc::
  DESTINATION ${KVC_PACKAGE_DIR} COMPONENT protocol)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kvconform-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/kvconform-config.cmake INSTALL_DESTINATION ${KVC_PACKAGE_DIR})
# 0.x: every minor version may break.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kvconform-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kvconform-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/kvconform-config-version.cmake
  DESTINATION ${KVC_PACKAGE_DIR} COMPONENT protocol)
