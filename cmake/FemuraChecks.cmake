# SPDX-License-Identifier: Apache-2.0
# Checks of the tree itself, with the label `check`.

# Who may include whom.
add_test(NAME check/layering
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
    -P ${PROJECT_SOURCE_DIR}/tests/layering.cmake)

add_test(NAME check/format
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
    -P ${PROJECT_SOURCE_DIR}/tests/format.cmake)

add_test(NAME check/listed
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
    -P ${PROJECT_SOURCE_DIR}/tests/listed.cmake)

# A project of its own that finds, links and runs the installed package.
add_test(NAME check/consumer
  COMMAND ${CMAKE_COMMAND}
    -D SOURCE_DIR=${PROJECT_SOURCE_DIR}/tests/consumer
    -D FEMURA_BUILD_DIR=${PROJECT_BINARY_DIR}
    -D WORK_DIR=${PROJECT_BINARY_DIR}/consumer
    -D GENERATOR=${CMAKE_GENERATOR}
    -D CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -D "CXX_FLAGS=${CMAKE_CXX_FLAGS}"
    -D BUILD_TYPE=${CMAKE_BUILD_TYPE}
    -D KOKKOS_DIR=${Kokkos_DIR}
    -D CUDA=${Kokkos_ENABLE_CUDA}
    -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)

set_tests_properties(check/layering check/format check/listed check/consumer PROPERTIES
  LABELS check SKIP_REGULAR_EXPRESSION "^skipped: |\nskipped: ")

# Every public header compiles on its own and twice in a row; the library checks those that a source
# of their name includes first. nvcc would take minutes for what g++ has already checked.
if(NOT Kokkos_ENABLE_CUDA)
  set(sources "")
  foreach(folder IN ITEMS core kernels solvers)
    file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
    foreach(header ${headers})
      string(REGEX REPLACE "hpp$" "cpp" own ${PROJECT_SOURCE_DIR}/${header})
      set(first "")
      if(EXISTS ${own})
        file(STRINGS ${own} first REGEX "^#include" LIMIT_COUNT 1)
      endif()
      if(first STREQUAL "#include \"${header}\"")
        continue()
      endif()
      set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp)
      file(CONFIGURE OUTPUT ${source}
        CONTENT "#include \"${header}\"\n#include \"${header}\" // NOLINT\n")
      list(APPEND sources ${source})
    endforeach()
  endforeach()
  add_library(femura_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  femura_compile_settings(femura_headers)
  target_link_libraries(femura_headers PRIVATE femura::femura)
  if(FEMURA_PRECOMPILED_HEADERS) # builds without it find a forgotten include of Kokkos
    target_precompile_headers(femura_headers PRIVATE <Kokkos_Core.hpp>)
  endif()

  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  add_test(NAME check/headers
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target femura_headers -j ${cores})
  set_tests_properties(check/headers PROPERTIES LABELS check PROCESSORS ${cores} TIMEOUT 1200)
endif()
