# SPDX-License-Identifier: Apache-2.0
# What cpack makes of an installation (docs/building.md, "Packages"). One package, because the
# driver is small beside the library, which is static: nothing else is shared at run time. What only
# building against it needs is recommended, and what ossatura-verify needs: apt-get installs it,
# --no-install-recommends leaves it.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "the Ossatura authors")
set(CPACK_PACKAGE_CONTACT ${CPACK_PACKAGE_VENDOR})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finite elements on Kokkos: bone, heart, soft bodies, design")
set(CPACK_PACKAGE_DESCRIPTION
  "Ossatura solves five kinds of finite-element problems on CPUs and GPUs:
stiffness of bone from CT images, activation times of the heart, soft bodies
with contact in real time, topology optimisation, and elasticity with
elements of high order.
.
This package has the program ossatura, ossatura-verify which checks its results,
its benchmarks, and the C++17 library
with its CMake package, the Kokkos it was built with, and examples.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "cmake, g++, make, libhdf5-dev, libmetis-dev, libdeflate-dev, zlib1g-dev, python3-h5py, python3-xxhash")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Debian wants the licences of all that is inside in this file.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ossatura)

include(CPack)
