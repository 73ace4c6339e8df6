# SPDX-License-Identifier: Apache-2.0
# GDCM_FOUND and gdcm::gdcm. GDCM's own CMake package, as Debian's libgdcm-dev has it, names programs of
# libgdcm-tools, and is an error where these are not installed.
find_path(GDCM_INCLUDE_DIR gdcmPixmapReader.h PATH_SUFFIXES gdcm-3.0)
set(GDCM_FOUND TRUE)
set(gdcm_libraries "")
foreach(library IN ITEMS MSFF DICT DSED Common)
  find_library(GDCM_${library}_LIBRARY gdcm${library})
  list(APPEND gdcm_libraries "${GDCM_${library}_LIBRARY}")
  if(NOT GDCM_INCLUDE_DIR OR NOT GDCM_${library}_LIBRARY)
    set(GDCM_FOUND FALSE)
  endif()
endforeach()
if(GDCM_FOUND AND NOT TARGET gdcm::gdcm)
  add_library(gdcm::gdcm INTERFACE IMPORTED)
  set_target_properties(gdcm::gdcm PROPERTIES
    INTERFACE_LINK_LIBRARIES "${gdcm_libraries}"
    INTERFACE_INCLUDE_DIRECTORIES "${GDCM_INCLUDE_DIR}")
endif()
