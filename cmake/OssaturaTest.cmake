# SPDX-License-Identifier: Apache-2.0
# Two test executables, one CTest entry per subject and backend:
#   ossatura_host_test(name sources...)     host/name                     label host
#   ossatura_backend_test(name sources...)  serial/name                   label serial
#                                         openmp1/name, openmp4/name    label openmp
#                                         cuda/name                     label cuda
# Sources added while ossatura_test_group is set are compiled as one (ossatura_compile_together).
# Entries select their tests by file name (Catch2 tags [#file]) and backend tag, so nothing is run
# at build time to discover them. Base names of test sources are therefore unique.

find_package(Catch2 2.13 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 3 REQUIRED)
endif()

if(Catch2_VERSION VERSION_LESS 3)
  add_library(ossatura_catch OBJECT test_main.cpp)
  target_link_libraries(ossatura_catch PUBLIC Catch2::Catch2)
  set(ossatura_catch_arguments "") # test_main.cpp has them
else()
  add_library(ossatura_catch INTERFACE)
  target_link_libraries(ossatura_catch INTERFACE Catch2::Catch2WithMain)
  set(ossatura_catch_arguments --warn NoAssertions)
endif()

# Sanitizers look for bad memory; tests tagged [slow] measure convergence, on the same kernels as
# others, and are left to other builds.
set(ossatura_left_out "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(ossatura_left_out "~[slow]")
endif()

set(ossatura_test_backends "")
foreach(backend IN LISTS OSSATURA_TEST_BACKENDS)
  string(TOUPPER ${backend} device)
  if(NOT backend MATCHES "^(serial|openmp|cuda)$" OR NOT Kokkos_ENABLE_${device})
    message(FATAL_ERROR
      "OSSATURA_TEST_BACKENDS: Kokkos has no backend '${backend}': name others, or leave it empty")
  endif()
endforeach()
foreach(backend IN ITEMS serial openmp cuda)
  string(TOUPPER ${backend} device)
  if(Kokkos_ENABLE_${device} AND (NOT OSSATURA_TEST_BACKENDS OR backend IN_LIST OSSATURA_TEST_BACKENDS))
    list(APPEND ossatura_test_backends ${backend})
  endif()
endforeach()

function(ossatura_test_executable target)
  add_executable(${target} ${ARGN})
  ossatura_compile_settings(${target})
  target_link_libraries(${target} PRIVATE ossatura::ossatura ossatura_catch ZLIB::ZLIB)
  if(TARGET ossatura_driver) # its parts, CLI11 and nlohmann-json
    target_link_libraries(${target} PRIVATE ossatura_driver)
  endif()
  # tests/data, and the driver for tests that go through it
  target_compile_definitions(${target} PRIVATE
    OSSATURA_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data"
    OSSATURA_DRIVER="${PROJECT_BINARY_DIR}/ossatura")
  if(TARGET ossatura)
    add_dependencies(${target} ossatura)
  endif()
endfunction()

ossatura_test_executable(ossatura_host_tests)
ossatura_test_executable(ossatura_backend_tests backend_session.cpp)
list(JOIN ossatura_test_backends "," names)
target_compile_definitions(ossatura_backend_tests PRIVATE OSSATURA_TEST_BACKENDS="${names}")

# Adds the sources to the executable and sets `selection` to the Catch2 expression for them.
macro(ossatura_add_test_sources target tag)
  target_sources(${target} PRIVATE ${ARGN})
  if(ossatura_test_group)
    ossatura_compile_together(${target} ${ossatura_test_group} ${ARGN})
  endif()
  set(selection "")
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME_WE)
    get_property(known GLOBAL PROPERTY ossatura_test_stems)
    if(stem IN_LIST known)
      message(FATAL_ERROR "two test sources are called ${stem}.cpp; Catch2 cannot tell them apart")
    endif()
    set_property(GLOBAL APPEND PROPERTY ossatura_test_stems ${stem})
    list(APPEND selection "[#${stem}]${tag}${ossatura_left_out}")
  endforeach()
endmacro()

function(ossatura_add_test_entry entry target label threads selection)
  set(waiting "")
  if(threads GREATER 2) # than there may be cores: threads that wait give way
    set(waiting ";OMP_WAIT_POLICY=passive")
  endif()
  add_test(NAME ${entry}
    COMMAND ${target} --filenames-as-tags ${ossatura_catch_arguments} ${selection})
  set_tests_properties(${entry} PROPERTIES LABELS ${label} PROCESSORS ${threads}
    SKIP_RETURN_CODE 77 TIMEOUT 600
    # a CUDA build on a machine without the driver
    SKIP_REGULAR_EXPRESSION "error while loading shared libraries: libcuda.so"
    ENVIRONMENT "OMP_NUM_THREADS=${threads};OMP_PROC_BIND=false${waiting}")
endfunction()

function(ossatura_host_test name)
  ossatura_add_test_sources(ossatura_host_tests "" ${ARGN})
  string(REPLACE ";" "," selection "${selection}")
  ossatura_add_test_entry(host/${name} ossatura_host_tests host 1 "${selection}")
endfunction()

# THREADS: of the second OpenMP entry in place of 4, for tests that wait at barriers most of the time.
function(ossatura_backend_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "THREADS" "")
  if(NOT test_THREADS)
    set(test_THREADS 4)
  endif()
  ossatura_add_test_sources(ossatura_backend_tests "[BACKEND]" ${test_UNPARSED_ARGUMENTS})
  string(REPLACE ";" "," selection "${selection}")
  foreach(backend IN LISTS ossatura_test_backends)
    string(REPLACE BACKEND ${backend} chosen "${selection}")
    if(backend STREQUAL openmp) # results must not depend on the number of threads
      foreach(threads 1 ${test_THREADS})
        ossatura_add_test_entry(openmp${threads}/${name} ossatura_backend_tests openmp ${threads}
          "${chosen}")
      endforeach()
    else()
      ossatura_add_test_entry(${backend}/${name} ossatura_backend_tests ${backend} 1 "${chosen}")
    endif()
  endforeach()
endfunction()
