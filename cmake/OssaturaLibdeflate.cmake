# SPDX-License-Identifier: Apache-2.0
# libdeflate_FOUND and libdeflate::libdeflate, also for the installed package; Debian's libdeflate
# comes without a CMake package.
find_path(LIBDEFLATE_INCLUDE_DIR libdeflate.h)
if(OSSATURA_STATIC_DEPENDENCIES)
  find_library(LIBDEFLATE_LIBRARY libdeflate.a)
else()
  find_library(LIBDEFLATE_LIBRARY deflate)
endif()
if(LIBDEFLATE_INCLUDE_DIR AND LIBDEFLATE_LIBRARY)
  set(libdeflate_FOUND TRUE)
else()
  set(libdeflate_FOUND FALSE)
endif()
if(libdeflate_FOUND AND NOT TARGET libdeflate::libdeflate)
  add_library(libdeflate::libdeflate UNKNOWN IMPORTED)
  set_target_properties(libdeflate::libdeflate PROPERTIES
    IMPORTED_LOCATION "${LIBDEFLATE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LIBDEFLATE_INCLUDE_DIR}")
endif()
