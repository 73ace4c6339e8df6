# SPDX-License-Identifier: Apache-2.0
# The CMake package, headers, examples and pages: find_package(femura) and femura::femura.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/femura)

install(TARGETS femura_all EXPORT femuraTargets)
install(EXPORT femuraTargets NAMESPACE femura:: DESTINATION ${package_dir})

# Installed headers include each other as <femura/core/x.hpp> does: a program may have a folder
# core/ of its own.
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(changed \"${PROJECT_BINARY_DIR}/headers\")
  set(destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake)

# A package for other machines brings its Kokkos; elsewhere programs find the one it was built with.
set(FEMURA_KOKKOS_PREFIX ${CMAKE_INSTALL_LIBDIR}/femura/kokkos)
if(FEMURA_PACKAGE_KOKKOS)
  include(FemuraPackageKokkos)
  set(FEMURA_KOKKOS_HINT "")
else()
  set(FEMURA_KOKKOS_HINT ${Kokkos_DIR})
endif()

string(REGEX MATCH "^[0-9]+\\.[0-9]+" FEMURA_HDF5_SERIES "${HDF5_VERSION}")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/femuraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/femuraConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS FEMURA_KOKKOS_PREFIX NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/femuraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/femuraConfig.cmake
  ${PROJECT_BINARY_DIR}/femuraConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FemuraHDF5.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FemuraKokkosKernels.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FemuraMETIS.cmake
  DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/femura/examples)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET femura_bench)
  install(TARGETS femura_bench OPTIONAL) # a build of the target femura alone has none
endif()
