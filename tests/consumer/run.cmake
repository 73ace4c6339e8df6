# SPDX-License-Identifier: Apache-2.0
# Installs the build into WORK_DIR/prefix; then, against that, configures, builds and runs SOURCE_DIR
# and a copy of the installed examples, on each of BACKENDS. Compiles SOURCE_DIR/main.cpp against the clone as
# a subdirectory, too.
cmake_minimum_required(VERSION 3.22)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build source build) # further arguments go to the configuration
  step(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=None # CXX_FLAGS have the build's
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D "CMAKE_CXX_FLAGS=${CXX_FLAGS}"
    -D CMAKE_CXX_EXTENSIONS=OFF
    -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -D Kokkos_DIR=${KOKKOS_DIR} ${ARGN})
  step(${CMAKE_COMMAND} --build ${build} -j ${cores} ${target})
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
step(${CMAKE_COMMAND} --install ${OSSATURA_BUILD_DIR} --prefix ${WORK_DIR}/prefix)
build(${SOURCE_DIR} ${WORK_DIR}/build)
set(target --target consumer)
build(${SOURCE_DIR}/subdirectory ${WORK_DIR}/subdirectory
  -D OSSATURA_SOURCE_DIR=${SOURCE_DIR}/../..)
unset(target)

# The list of what it is made of is there, with versions.
file(GLOB_RECURSE sbom ${WORK_DIR}/prefix/*/ossatura.spdx.json)
file(READ ${sbom} sbom)
string(JSON last LENGTH ${sbom} packages)
math(EXPR last "${last} - 1")
set(listed "")
foreach(i RANGE ${last})
  string(JSON name GET ${sbom} packages ${i} name)
  string(JSON version GET ${sbom} packages ${i} versionInfo)
  if(NOT version MATCHES "^[0-9]+\\.[0-9]" AND NOT name STREQUAL libaec) # which says none
    message(FATAL_ERROR "ossatura.spdx.json has no version of ${name}: '${version}'")
  endif()
  list(APPEND listed ${name})
endforeach()
foreach(name IN ITEMS ossatura Kokkos HDF5 libdeflate zlib METIS)
  if(NOT name IN_LIST listed)
    message(FATAL_ERROR "ossatura.spdx.json lacks ${name}: ${listed}")
  endif()
endforeach()

# The package can be moved, and refuses another Kokkos.
file(GLOB_RECURSE files ${WORK_DIR}/prefix/*.cmake)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(FIND "${text}" ${OSSATURA_BUILD_DIR} place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${file} names the build folder")
  endif()
endforeach()
file(WRITE ${WORK_DIR}/kokkos/KokkosConfig.cmake "
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  set(Kokkos_VERSION 99.0)
  set(Kokkos_DEVICES SERIAL)")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/refused -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -D Kokkos_DIR=${WORK_DIR}/kokkos
  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE complaint)
string(REGEX REPLACE "[ \n]+" " " complaint "${complaint}") # CMake breaks lines
if(NOT failed OR NOT complaint MATCHES "99\\.0 \\(SERIAL\\)\\. The two do not mix")
  message(FATAL_ERROR "another Kokkos: exit code ${failed}, ${complaint}")
endif()

file(COPY ${WORK_DIR}/prefix/share/ossatura/examples DESTINATION ${WORK_DIR})
build(${WORK_DIR}/examples ${WORK_DIR}/examples/build)

if(CUDA AND NOT EXISTS /dev/nvidia0)
  message("skipped: built against the installed package, not run: no CUDA device here")
  return()
endif()
set(ENV{OMP_PROC_BIND} false)
set(ENV{OMP_NUM_THREADS} 2)
set(ENV{OMP_WAIT_POLICY} passive)
step(${WORK_DIR}/build/consumer)
file(GLOB programs RELATIVE ${WORK_DIR}/examples ${WORK_DIR}/examples/*/*.cpp)
list(LENGTH programs count)
if(count LESS 5)
  message(FATAL_ERROR "only these examples were installed: ${programs}")
endif()
foreach(program IN LISTS programs)
  get_filename_component(name ${program} NAME_WE)
  foreach(backend IN LISTS BACKENDS)
    message("${name} ${backend}")
    step(${WORK_DIR}/examples/build/${name} ${backend})
  endforeach()
  execute_process(COMMAND ${WORK_DIR}/examples/build/${name} abacus RESULT_VARIABLE failed
    ERROR_VARIABLE complaint)
  if(NOT failed OR NOT complaint MATCHES "backend 'abacus' is not in this build")
    message(FATAL_ERROR "${name} abacus: exit code ${failed}, ${complaint}")
  endif()
endforeach()
