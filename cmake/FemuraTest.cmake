# SPDX-License-Identifier: Apache-2.0
# Two test executables, one CTest entry per subject and backend:
#   femura_host_test(name sources...)     host/name                     label host
#   femura_backend_test(name sources...)  serial/name                   label serial
#                                         openmp1/name, openmp4/name    label openmp
#                                         cuda/name                     label cuda
# Sources added while femura_test_group is set are compiled as one (femura_compile_together).
# Entries select their tests by file name (Catch2 tags [#file]) and backend tag, so nothing is run
# at build time to discover them. Base names of test sources are therefore unique.

find_package(Catch2 2.13 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 3 REQUIRED)
endif()

if(Catch2_VERSION VERSION_LESS 3)
  add_library(femura_catch OBJECT test_main.cpp)
  target_link_libraries(femura_catch PUBLIC Catch2::Catch2)
  set(femura_catch_arguments "") # test_main.cpp has them
else()
  add_library(femura_catch INTERFACE)
  target_link_libraries(femura_catch INTERFACE Catch2::Catch2WithMain)
  set(femura_catch_arguments --warn NoAssertions)
endif()

# Sanitizers look for bad memory; tests tagged [slow] measure convergence, on the same kernels as
# others, and are left to other builds.
set(femura_left_out "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(femura_left_out "~[slow]")
endif()

set(femura_test_backends "")
foreach(backend IN LISTS FEMURA_TEST_BACKENDS)
  string(TOUPPER ${backend} device)
  if(NOT backend MATCHES "^(serial|openmp|cuda)$" OR NOT Kokkos_ENABLE_${device})
    message(FATAL_ERROR
      "FEMURA_TEST_BACKENDS: Kokkos has no backend '${backend}': name others, or leave it empty")
  endif()
endforeach()
foreach(backend IN ITEMS serial openmp cuda)
  string(TOUPPER ${backend} device)
  if(Kokkos_ENABLE_${device} AND (NOT FEMURA_TEST_BACKENDS OR backend IN_LIST FEMURA_TEST_BACKENDS))
    list(APPEND femura_test_backends ${backend})
  endif()
endforeach()

function(femura_test_executable target)
  add_executable(${target} ${ARGN})
  femura_compile_settings(${target})
  target_link_libraries(${target} PRIVATE femura::femura femura_catch ZLIB::ZLIB)
  if(TARGET femura_driver) # its parts, CLI11 and nlohmann-json
    target_link_libraries(${target} PRIVATE femura_driver)
  endif()
  # tests/data, and the driver for tests that go through it
  target_compile_definitions(${target} PRIVATE
    FEMURA_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data"
    FEMURA_DRIVER="${PROJECT_BINARY_DIR}/femura")
  if(TARGET femura)
    add_dependencies(${target} femura)
  endif()
endfunction()

femura_test_executable(femura_host_tests)
femura_test_executable(femura_backend_tests backend_session.cpp)
list(JOIN femura_test_backends "," names)
target_compile_definitions(femura_backend_tests PRIVATE FEMURA_TEST_BACKENDS="${names}")

# Adds the sources to the executable and sets `selection` to the Catch2 expression for them.
macro(femura_add_test_sources target tag)
  target_sources(${target} PRIVATE ${ARGN})
  if(femura_test_group)
    femura_compile_together(${target} ${femura_test_group} ${ARGN})
  endif()
  set(selection "")
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME_WE)
    get_property(known GLOBAL PROPERTY femura_test_stems)
    if(stem IN_LIST known)
      message(FATAL_ERROR "two test sources are called ${stem}.cpp; Catch2 cannot tell them apart")
    endif()
    set_property(GLOBAL APPEND PROPERTY femura_test_stems ${stem})
    list(APPEND selection "[#${stem}]${tag}${femura_left_out}")
  endforeach()
endmacro()

function(femura_add_test_entry entry target label threads selection)
  set(waiting "")
  if(threads GREATER 2) # than there may be cores: threads that wait give way
    set(waiting ";OMP_WAIT_POLICY=passive")
  endif()
  add_test(NAME ${entry}
    COMMAND ${target} --filenames-as-tags ${femura_catch_arguments} ${selection})
  set_tests_properties(${entry} PROPERTIES LABELS ${label} PROCESSORS ${threads}
    SKIP_RETURN_CODE 77 TIMEOUT 600
    # a CUDA build on a machine without the driver
    SKIP_REGULAR_EXPRESSION "error while loading shared libraries: libcuda.so"
    ENVIRONMENT "OMP_NUM_THREADS=${threads};OMP_PROC_BIND=false${waiting}")
endfunction()

function(femura_host_test name)
  femura_add_test_sources(femura_host_tests "" ${ARGN})
  string(REPLACE ";" "," selection "${selection}")
  femura_add_test_entry(host/${name} femura_host_tests host 1 "${selection}")
endfunction()

# THREADS: of the second OpenMP entry in place of 4, for tests that wait at barriers most of the time.
function(femura_backend_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "THREADS" "")
  if(NOT test_THREADS)
    set(test_THREADS 4)
  endif()
  femura_add_test_sources(femura_backend_tests "[BACKEND]" ${test_UNPARSED_ARGUMENTS})
  string(REPLACE ";" "," selection "${selection}")
  foreach(backend IN LISTS femura_test_backends)
    string(REPLACE BACKEND ${backend} chosen "${selection}")
    if(backend STREQUAL openmp) # results must not depend on the number of threads
      foreach(threads 1 ${test_THREADS})
        femura_add_test_entry(openmp${threads}/${name} femura_backend_tests openmp ${threads}
          "${chosen}")
      endforeach()
    else()
      femura_add_test_entry(${backend}/${name} femura_backend_tests ${backend} 1 "${chosen}")
    endif()
  endforeach()
endfunction()
