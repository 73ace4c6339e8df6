# SPDX-License-Identifier: Apache-2.0
# Installs the build into WORK_DIR/prefix, then configures, builds and runs SOURCE_DIR against it.
cmake_minimum_required(VERSION 3.22)
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
step(${CMAKE_COMMAND} --install ${FEMURA_BUILD_DIR} --prefix ${WORK_DIR}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
  -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
  -D "CMAKE_CXX_FLAGS=${CXX_FLAGS}"
  -D CMAKE_CXX_EXTENSIONS=OFF
  -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
  -D Kokkos_DIR=${KOKKOS_DIR})
step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
if(CUDA AND NOT EXISTS /dev/nvidia0)
  message("skipped: built against the installed package, not run: no CUDA device here")
  return()
endif()
step(${CMAKE_COMMAND} -E env OMP_PROC_BIND=false ${WORK_DIR}/build/consumer)
