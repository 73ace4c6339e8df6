# SPDX-License-Identifier: Apache-2.0
# The CMake package: find_package(femura) and femura::femura.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/femura)

install(TARGETS femura_all EXPORT femuraTargets)
install(EXPORT femuraTargets NAMESPACE femura:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/femuraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/femuraConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/femuraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/femuraConfig.cmake
  ${PROJECT_BINARY_DIR}/femuraConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FemuraHDF5.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FemuraKokkosKernels.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FemuraMETIS.cmake
  DESTINATION ${package_dir})
