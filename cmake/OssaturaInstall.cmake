# SPDX-License-Identifier: Apache-2.0
# The CMake package, headers, examples and pages: find_package(ossatura) and ossatura::ossatura.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ossatura)

install(TARGETS ossatura_all EXPORT ossaturaTargets)
install(EXPORT ossaturaTargets NAMESPACE ossatura:: DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/solvers
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ossatura FILES_MATCHING PATTERN "*.hpp")

# A package for other machines brings its Kokkos; elsewhere programs find the one it was built with.
set(OSSATURA_KOKKOS_PREFIX ${CMAKE_INSTALL_LIBDIR}/ossatura/kokkos)
if(OSSATURA_PACKAGE_KOKKOS)
  include(OssaturaPackageKokkos)
  set(OSSATURA_KOKKOS_HINT "")
else()
  set(OSSATURA_KOKKOS_HINT ${Kokkos_DIR})
endif()

string(REGEX MATCH "^[0-9]+\\.[0-9]+" OSSATURA_HDF5_SERIES "${HDF5_VERSION}")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ossaturaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ossaturaConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS OSSATURA_KOKKOS_PREFIX NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ossaturaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/ossaturaConfig.cmake
  ${PROJECT_BINARY_DIR}/ossaturaConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/OssaturaHDF5.cmake
  ${PROJECT_SOURCE_DIR}/cmake/OssaturaKokkosKernels.cmake
  ${PROJECT_SOURCE_DIR}/cmake/OssaturaLibdeflate.cmake
  ${PROJECT_SOURCE_DIR}/cmake/OssaturaMETIS.cmake
  DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/ossatura/examples)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
include(OssaturaSbom)
if(TARGET ossatura_bench)
  install(TARGETS ossatura_bench OPTIONAL) # a build of the target ossatura alone has none
endif()
