# SPDX-License-Identifier: Apache-2.0
# Installs the prefix of Kokkos (and of Kokkos Kernels, where it is the same) in
# OSSATURA_KOKKOS_PREFIX. Its CMake files name the folder it was installed in first; copies of them
# name the place they are in.
get_filename_component(prefix ${Kokkos_DIR}/../../.. REALPATH)
if(prefix MATCHES "^(/|/usr|/usr/local)$")
  message(FATAL_ERROR "OSSATURA_PACKAGE_KOKKOS copies the prefix of Kokkos, and ${prefix} holds more "
    "than that: use the one of scripts/setup, or one in a prefix of its own")
endif()
if(Kokkos_ARCH MATCHES "NATIVE")
  message(FATAL_ERROR "The Kokkos in ${prefix} is for the processor of this machine alone "
    "(Kokkos_ARCH_NATIVE): a package needs one without")
endif()

file(STRINGS ${Kokkos_DIR}/KokkosConfigCommon.cmake hints
  REGEX "(set|SET)\\(_HINTS .*MAYBE|(set|SET)\\(_HINTS .*CMAKE_CURRENT_LIST_DIR")
set(first_prefix ${prefix})
if(hints MATCHES "\"(/[^\"]*)\"\\)")
  set(first_prefix ${CMAKE_MATCH_1})
endif()
set(copies ${PROJECT_BINARY_DIR}/kokkos-package)
file(REMOVE_RECURSE ${copies})
file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/lib*/cmake/*.cmake)
foreach(file IN LISTS files)
  file(READ ${prefix}/${file} text)
  foreach(place IN LISTS first_prefix prefix)
    string(REPLACE "${place}" "\${CMAKE_CURRENT_LIST_DIR}/../../.." text "${text}")
  endforeach()
  file(WRITE ${copies}/${file} "${text}")
endforeach()

install(DIRECTORY ${prefix}/ DESTINATION ${OSSATURA_KOKKOS_PREFIX} USE_SOURCE_PERMISSIONS
  PATTERN "*.cmake" EXCLUDE PATTERN ".*" EXCLUDE)
install(DIRECTORY ${copies}/ DESTINATION ${OSSATURA_KOKKOS_PREFIX})
