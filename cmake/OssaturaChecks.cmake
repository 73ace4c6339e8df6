# SPDX-License-Identifier: Apache-2.0
# Checks of the tree itself, with the label `check`.

# Of the sources alone, without a build: format, licence lines, version and date of the release.
foreach(check IN ITEMS format licence release)
  add_test(NAME check/${check}
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
      -P ${PROJECT_SOURCE_DIR}/tests/checks/${check}.cmake)
  list(APPEND ossatura_checks check/${check})
endforeach()
foreach(language IN ITEMS shell python)
  add_test(NAME check/${language}
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D LANGUAGE=${language}
      -P ${PROJECT_SOURCE_DIR}/tests/checks/scripts.cmake)
  list(APPEND ossatura_checks check/${language})
endforeach()

# Projects of their own that find, link and run the installed package: one with a kernel, the examples.
set(backends "")
foreach(backend IN ITEMS serial openmp cuda)
  string(TOUPPER ${backend} device)
  if(Kokkos_ENABLE_${device})
    list(APPEND backends ${backend})
  endif()
endforeach()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
add_test(NAME check/consumer
  COMMAND ${CMAKE_COMMAND}
    -D SOURCE_DIR=${PROJECT_SOURCE_DIR}/tests/consumer
    -D OSSATURA_BUILD_DIR=${PROJECT_BINARY_DIR}
    -D WORK_DIR=${PROJECT_BINARY_DIR}/consumer
    -D GENERATOR=${CMAKE_GENERATOR}
    -D CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -D "CXX_FLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}"
    -D KOKKOS_DIR=${Kokkos_DIR}
    -D CUDA=${Kokkos_ENABLE_CUDA}
    -D "BACKENDS=${backends}"
    -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
set_tests_properties(check/consumer PROPERTIES PROCESSORS ${cores} TIMEOUT 1200)

# Where executables look for libraries, and what is linked into them for safety.
set(files "")
foreach(target IN ITEMS ossatura ossatura_dicom ossatura_bench ossatura_host_tests ossatura_backend_tests)
  if(TARGET ${target})
    list(APPEND files $<TARGET_FILE:${target}>)
  endif()
endforeach()
ossatura_can_harden(hardened)
if(hardened AND TARGET ossatura AND CMAKE_BUILD_TYPE MATCHES "Rel")
  set(readers $<TARGET_FILE:ossatura>)
  if(TARGET ossatura_dicom)
    list(APPEND readers $<TARGET_FILE:ossatura_dicom>)
  endif()
  set(hardened -D "HARDENED=${readers}")
else()
  set(hardened "")
endif()
add_test(NAME check/executables
  COMMAND ${CMAKE_COMMAND} -D READELF=${CMAKE_READELF} -D "FILES=${files}" ${hardened}
    -P ${PROJECT_SOURCE_DIR}/tests/checks/executables.cmake)
list(APPEND ossatura_checks check/executables)

# How long a function may be; who may include whom; links of the pages, and files that pages and
# sources name; codes of warnings and their page; kernels that object files launch and register.
find_package(Python3 3.7 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  foreach(check IN ITEMS function_length layering links warning_codes)
    add_test(NAME check/${check}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/checks/${check}.py
        ${PROJECT_SOURCE_DIR})
    list(APPEND ossatura_checks check/${check})
  endforeach()
  add_test(NAME check/architecture
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/architecture --check)
  list(APPEND ossatura_checks check/architecture)
  if(Kokkos_ENABLE_CUDA)
    add_test(NAME check/registered_kernels
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/checks/registered_kernels.py
        ${PROJECT_BINARY_DIR})
    list(APPEND ossatura_checks check/registered_kernels)
  endif()
endif()

# The documentation without a warning; the target `docs` makes it in docs/html of the build tree.
set(make_docs ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION})
set(docs_script ${PROJECT_SOURCE_DIR}/docs/doxygen/run.cmake)
add_test(NAME check/docs
  COMMAND ${make_docs} -D OUTPUT_DIR=${PROJECT_BINARY_DIR}/docs-check -P ${docs_script})
add_custom_target(docs
  COMMAND ${make_docs} -D OUTPUT_DIR=${PROJECT_BINARY_DIR}/docs -P ${docs_script} VERBATIM)

set_tests_properties(${ossatura_checks} check/consumer check/docs PROPERTIES
  LABELS check SKIP_REGULAR_EXPRESSION "^skipped: |\nskipped: ")

# Every public header compiles on its own. One may come first in the source of another that includes it, and
# brings nothing there that the other has not: headers are compiled in such chains, as loading what is
# precompiled is most of the time of one. Where each source is compiled by itself, what it includes first has
# been seen there. nvcc would take minutes for what g++ has already checked.
if(NOT Kokkos_ENABLE_CUDA)
  set(headers "")
  set(seen "")
  foreach(folder IN ITEMS core kernels solvers)
    file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
    list(APPEND headers ${files})
    if(NOT OSSATURA_UNITY_BUILD)
      file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
      foreach(file IN LISTS files)
        file(STRINGS ${file} first REGEX "^#include" LIMIT_COUNT 1)
        if(first MATCHES "^#include <ossatura/(.+)>$")
          list(APPEND seen ${CMAKE_MATCH_1})
        endif()
      endforeach()
    endif()
  endforeach()
  list(REMOVE_ITEM headers ${seen})
  set(taken ${seen})
  foreach(header IN LISTS headers) # before it comes one that it includes and that comes before no other
    set(before_${header} "")
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include <ossatura/")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include <ossatura/(.+)>.*$" "\\1" include "${include}")
      if(NOT include IN_LIST taken)
        set(before_${header} ${include})
        list(APPEND taken ${include})
        break()
      endif()
    endforeach()
  endforeach()
  set(sources "")
  foreach(header IN LISTS headers)
    if(NOT header IN_LIST taken)
      set(content "")
      set(next ${header})
      while(next)
        string(PREPEND content "#include <ossatura/${next}>\n#include <ossatura/${next}> // NOLINT\n")
        set(next ${before_${next}})
      endwhile()
      set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "${content}")
      list(APPEND sources ${source})
    endif()
  endforeach()
  add_library(ossatura_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  ossatura_compile_settings(ossatura_headers)
  target_link_libraries(ossatura_headers PRIVATE ossatura::ossatura)
  if(OSSATURA_UNITY_BUILD) # builds without it find a forgotten include of Kokkos
    target_precompile_headers(ossatura_headers PRIVATE <Kokkos_Core.hpp>)
  endif()

  # All headers together, those of apps, bench and tests too: a name that two of them define would be an
  # error for who includes both, and one of two meanings, by the linker's choice, for who does not.
  set(layers core kernels solvers tests)
  if(TARGET ossatura_driver)
    list(APPEND layers apps)
  endif()
  if(TARGET ossatura_bench)
    list(APPEND layers bench)
  endif()
  set(together "")
  foreach(layer IN LISTS layers)
    file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${layer}/*.hpp)
    foreach(header IN LISTS headers)
      if(layer MATCHES "^(core|kernels|solvers)$")
        string(APPEND together "#include <ossatura/${header}>\n")
      else()
        string(APPEND together "#include \"${header}\"\n")
      endif()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/together.cpp CONTENT "${together}")

  add_library(ossatura_headers_together OBJECT EXCLUDE_FROM_ALL
    ${CMAKE_CURRENT_BINARY_DIR}/headers/together.cpp)
  ossatura_compile_settings(ossatura_headers_together)
  target_link_libraries(ossatura_headers_together PRIVATE
    ossatura::ossatura ossatura_catch ZLIB::ZLIB Eigen3::Eigen)
  if(TARGET ossatura_driver)
    target_link_libraries(ossatura_headers_together PRIVATE ossatura_driver)
  endif()
  if(TARGET ossatura_bench)
    find_package(benchmark 1.7 REQUIRED)
    target_link_libraries(ossatura_headers_together PRIVATE benchmark::benchmark)
  endif()
  target_compile_definitions(ossatura_headers_together PRIVATE
    OSSATURA_TEST_BACKENDS="" OSSATURA_TEST_DATA_DIR="" OSSATURA_DRIVER="")

  add_test(NAME check/headers
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ossatura_headers ossatura_headers_together -j ${cores})
  set_tests_properties(check/headers PROPERTIES LABELS check PROCESSORS ${cores} TIMEOUT 1200)
endif()
