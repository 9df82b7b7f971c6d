# What `cmake --install` installs besides the libraries of isobar_room(): the programs, the headers, and the files with
# which find_package(isobar) provides isobar::base, isobar::tensor, ... to other projects.
include(CMakePackageConfigHelpers)

set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/isobar)
install(TARGETS ${isobar_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/isobar/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isobar
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT isobar NAMESPACE isobar:: DESTINATION ${destination} FILE isobarTargets.cmake)
list(TRANSFORM exported_packages REPLACE "(.+)" "find_dependency(\\1)")
list(JOIN exported_packages "\n" isobar_dependencies)
list(JOIN exported_modules " " isobar_modules)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/isobarConfig.cmake.in
  ${PROJECT_BINARY_DIR}/isobarConfig.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/isobarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/isobarConfig.cmake ${PROJECT_BINARY_DIR}/isobarConfigVersion.cmake
  DESTINATION ${destination})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
