# SPDX-License-Identifier: BSD-3-Clause
# Finds libnifti2, which reads NIfTI-1 and NIfTI-2 images, and defines the target NIFTI::nifti2.
# NIFTI_ROOT: where to look first. NIFTI_USE_STATIC_LIBRARIES: take the archives.
# Sources include <nifti2_io.h>.

find_package(ZLIB QUIET)
find_path(NIFTI_INCLUDE_DIR nifti2_io.h PATH_SUFFIXES nifti)
set(_nifti_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(NIFTI_USE_STATIC_LIBRARIES)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
# libniftiio has the same function names over the structures of nifti1_io.h: not that one.
find_library(NIFTI_LIBRARY nifti2)
find_library(NIFTI_ZNZ_LIBRARY znz)
set(CMAKE_FIND_LIBRARY_SUFFIXES ${_nifti_suffixes})
unset(_nifti_suffixes)
mark_as_advanced(NIFTI_INCLUDE_DIR NIFTI_LIBRARY NIFTI_ZNZ_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NIFTI
  REQUIRED_VARS NIFTI_LIBRARY NIFTI_ZNZ_LIBRARY NIFTI_INCLUDE_DIR ZLIB_FOUND
  REASON_FAILURE_MESSAGE "In Debian: libnifti2-dev. Otherwise set NIFTI_ROOT.")

if(NIFTI_FOUND AND NOT TARGET NIFTI::nifti2)
  add_library(NIFTI::nifti2 UNKNOWN IMPORTED)
  set_target_properties(NIFTI::nifti2 PROPERTIES
    IMPORTED_LOCATION "${NIFTI_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${NIFTI_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${NIFTI_ZNZ_LIBRARY};ZLIB::ZLIB;m")
endif()
