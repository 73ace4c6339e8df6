# SPDX-License-Identifier: Apache-2.0
# Test executables of all sources below the folders of the layers, and a CTest entry for each
# source and backend. A source whose tests are OSSATURA_BACKEND_TEST runs on every backend, one whose
# tests are TEST_CASE once and without a backend; one without tests is a part of others:
#   host/NAME                       label host
#   serial/NAME                     label serial
#   openmp1/NAME, openmp4/NAME      label openmp
#   cuda/NAME                       label cuda
# Where MPI is found, a third one of those whose tests are OSSATURA_RANKS_TEST, under its launcher:
#   ranks1/NAME to ranks4/NAME      label ranks, serial
#   ranks3_openmp/NAME, ranks2_cuda/NAME
# With OSSATURA_TESTS_BESIDE_SANITIZERS host and backend tests are those alone that a build with
# sanitizers, which is for OpenMP alone, leaves out: of the executable's parts, and those tagged [slow] or
# [backends], which compare backends.
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
function(ossatura_select result source tests)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(tests "${tests}~[slow]")
  elseif(OSSATURA_TESTS_BESIDE_SANITIZERS)
    set(tagged "")
    foreach(tag IN ITEMS slow backends)
      file(STRINGS ${source} found REGEX "\\[${tag}\\]" LIMIT_COUNT 1)
      if(found)
        list(APPEND tagged "${tests}[${tag}]")
      endif()
    endforeach()
    list(JOIN tagged "," tests)
  endif()
  set(${result} "${tests}" PARENT_SCOPE)
endfunction()

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
  ossatura_compile_folders_together(${target} ${ARGN})
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

function(ossatura_add_test_entry entry target label threads selection)
  # Most of a test is its reference on the host, of one thread: several run side by side, and threads
  # that wait give way.
  add_test(NAME ${entry}
    COMMAND ${target} --filenames-as-tags ${ossatura_catch_arguments} "${selection}")
  set_tests_properties(${entry} PROPERTIES LABELS ${label}
    SKIP_RETURN_CODE 77 TIMEOUT 600
    # a CUDA build on a machine without the driver
    SKIP_REGULAR_EXPRESSION "error while loading shared libraries: libcuda.so"
    ENVIRONMENT "OMP_NUM_THREADS=${threads};OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive")
endfunction()

# The entries of a source of backend tests. Results must not depend on the number of threads, so
# OpenMP has two; solvers, which wait at barriers most of the time, have fewer in the second.
function(ossatura_add_backend_entries source name threads)
  foreach(backend IN LISTS ossatura_test_backends)
    ossatura_select(selection ${source} "[#${name}][${backend}]")
    if(backend STREQUAL openmp)
      foreach(number 1 ${threads})
        ossatura_add_test_entry(openmp${number}/${name} ossatura_backend_tests openmp ${number}
          "${selection}")
      endforeach()
    else()
      ossatura_add_test_entry(${backend}/${name} ossatura_backend_tests ${backend} 1 "${selection}")
    endif()
  endforeach()
endfunction()

# One machine of few cores, and root in containers: variables that other launchers do not know.
set(ossatura_ranks_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
  OMPI_MCA_mpi_yield_when_idle=1 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive)

# A test of `ranks` processes; sanitizers report what MPI itself leaves.
function(ossatura_add_ranks_entry entry ranks threads selection)
  add_test(NAME ${entry}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
      $<TARGET_FILE:ossatura_ranks_tests> --filenames-as-tags ${ossatura_catch_arguments} "${selection}")
  set(processors 2)
  if(ranks EQUAL 1)
    set(processors 1)
  endif()
  set_tests_properties(${entry} PROPERTIES LABELS ranks PROCESSORS ${processors} TIMEOUT 120
    SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION "error while loading shared libraries: libcuda.so"
    ENVIRONMENT "OMP_NUM_THREADS=${threads};${ossatura_ranks_environment}")
endfunction()

function(ossatura_add_ranks_entries name)
  foreach(backend IN LISTS ossatura_test_backends)
    set(selection "[#${name}][${backend}]")
    if(backend STREQUAL serial)
      foreach(ranks IN ITEMS 1 2 3 4)
        ossatura_add_ranks_entry(ranks${ranks}/${name} ${ranks} 1 "${selection}")
      endforeach()
    elseif(backend STREQUAL openmp)
      ossatura_add_ranks_entry(ranks3_openmp/${name} 3 2 "${selection}")
    else()
      ossatura_add_ranks_entry(ranks2_${backend}/${name} 2 1 "${selection}")
    endif()
  endforeach()
endfunction()

set(layers core kernels solvers)
if(TARGET ossatura)
  list(APPEND layers apps)
endif()
set(ranks_sources "")
set(host_sources "")
set(backend_sources "")
set(known "")
foreach(layer IN LISTS layers)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    if(name IN_LIST known)
      message(FATAL_ERROR "two test sources are called ${name}.cpp; Catch2 cannot tell them apart")
    endif()
    list(APPEND known ${name})
    file(STRINGS ${source} tests 
      REGEX "^(OSSATURA_BACKEND_TEST|OSSATURA_RANKS_TEST|TEST_CASE)" LIMIT_COUNT 1)
    file(STRINGS ${source} beside REGEX "\\[(slow|backends)\\]" LIMIT_COUNT 1)
    if(tests MATCHES "^OSSATURA_RANKS_TEST")
      if(OSSATURA_HAS_MPI AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        list(APPEND ranks_sources ${source})
        ossatura_add_ranks_entries(${name})
      endif()
    elseif(tests MATCHES "^TEST_CASE")
      if(layer STREQUAL "apps")
        list(APPEND host_sources ${source})
        ossatura_add_test_entry(host/${name} ossatura_host_tests host 1 "[#${name}]")
      elseif(beside OR NOT OSSATURA_TESTS_BESIDE_SANITIZERS)
        list(APPEND host_sources ${source})
        ossatura_select(selection ${source} "[#${name}]")
        ossatura_add_test_entry(host/${name} ossatura_host_tests host 1 "${selection}")
      endif()
    elseif(beside OR NOT tests OR NOT OSSATURA_TESTS_BESIDE_SANITIZERS)
      list(APPEND backend_sources ${source})
      if(tests)
        set(threads 4)
        if(layer STREQUAL solvers)
          set(threads 2)
        endif()
        ossatura_add_backend_entries(${source} ${name} ${threads})
      endif()
    endif()
  endforeach()
endforeach()

ossatura_test_executable(ossatura_host_tests ${host_sources})
find_package(Eigen3 3.3 REQUIRED NO_MODULE) # oracles of host tests; not in device code
target_link_libraries(ossatura_host_tests PRIVATE Eigen3::Eigen)
target_compile_definitions(ossatura_host_tests PRIVATE EIGEN_NO_CUDA) # nvcc refuses its annotations
ossatura_test_executable(ossatura_backend_tests
  ${CMAKE_CURRENT_SOURCE_DIR}/backend_session.cpp ${backend_sources})
list(JOIN ossatura_test_backends "," names)
target_compile_definitions(ossatura_backend_tests PRIVATE OSSATURA_TEST_BACKENDS="${names}")
if(ranks_sources)
  ossatura_test_executable(ossatura_ranks_tests ${CMAKE_CURRENT_SOURCE_DIR}/ranks_session.cpp ${ranks_sources})
  target_compile_definitions(ossatura_ranks_tests PRIVATE OSSATURA_TEST_BACKENDS="${names}")
endif()
