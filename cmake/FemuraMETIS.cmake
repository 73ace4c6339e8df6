# SPDX-License-Identifier: Apache-2.0
# METIS::METIS, also for the installed package; METIS comes without a CMake package of its own.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "scripts/setup installs it, METIS_LIBRARY and METIS_INCLUDE_DIR name another")
if(NOT METIS_FOUND)
  message(FATAL_ERROR "femura needs METIS 5.1: run scripts/setup")
endif()
if(NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION "${METIS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${METIS_INCLUDE_DIR}")
endif()
