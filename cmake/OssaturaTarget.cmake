# SPDX-License-Identifier: Apache-2.0
# Compile settings common to our own targets; nothing of it reaches a user's target.

# Headers of the library are <ossatura/kernels/x.hpp> here, as where they are installed.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/ossatura)
foreach(folder IN ITEMS core kernels solvers)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/include/ossatura/${folder}
    SYMBOLIC)
endforeach()

# Adds warnings, the root as include directory for "apps/x.hpp" and the like, and the machine flags: all
# that targets have of their own beside CMAKE_CXX_FLAGS and CMAKE_CXX_FLAGS_<CONFIG>. HOST_ONLY: the
# target is without Kokkos, and a CUDA build leaves it to the host compiler.
function(ossatura_compile_settings target)
  cmake_parse_arguments(PARSE_ARGV 1 settings "HOST_ONLY" "" "")
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include)
  if(NOT Kokkos_ENABLE_CUDA) # nvcc's generated host code is not ours to warn about
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic)
  elseif(Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA" AND NOT settings_HOST_ONLY)
    # Device code that calls what is for the host alone is wrong; nvcc only warns in functions for
    # both. Calls of constexpr functions (20013, 20015) have no name among its errors.
    target_compile_options(${target} PRIVATE -Werror=cross-execution-space-call
      "SHELL:-Xcudafe --diag_error=20013" "SHELL:-Xcudafe --diag_error=20015")
  endif()
  if(OSSATURA_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
  if(OSSATURA_STATIC_DEPENDENCIES)
    # For other machines: what nothing calls goes, and with it calls of newer versions of glibc.
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      # In a wheel, whose name says which glibc it needs, libgcc is that of the machine.
      target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--gc-sections
        -Wl,--exclude-libs,ALL)
      if(NOT OSSATURA_PYTHON)
        target_link_options(${target} PRIVATE -static-libgcc)
      endif()
    endif()
  endif()
endfunction()

# Whether the flags below are known here: GCC or Clang for Linux. Sanitizers check the same and more.
function(ossatura_can_harden result)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang"
      AND NOT Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# For what reads the files of others: functions check their stack, calls of the C library their buffers,
# and an executable's tables of addresses are read-only. Kernels go without: it would be in their loops.
function(ossatura_harden target)
  ossatura_can_harden(possible)
  if(NOT possible)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fstack-protector-strong
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  get_target_property(type ${target} TYPE)
  if(type MATCHES "EXECUTABLE|MODULE")
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
endfunction()

# With OSSATURA_UNITY_BUILD the sources of a system in a layer are compiled as one (solvers/eikonal with its
# folders, tests/kernels/bone), those of core by folders, which spares parsing the same headers and
# instantiating the same templates again, and Kokkos is parsed once for a target. Names that a source keeps
# to itself must then differ within its system. Folders that take a minute stay alone, for other cores.
set(ossatura_long_folders solvers/bone/pcg apps/bone/input)
function(ossatura_compile_folders_together target)
  if(NOT OSSATURA_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes an included source for a header, and spends a fifth of the time on making room that
    # large units use again.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    if(NOT Kokkos_ENABLE_CUDA) # nvcc does not know it
      target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=2000000)
    endif()
  endif()
  if(NOT Kokkos_ENABLE_CUDA)
    target_precompile_headers(${target} PRIVATE <Kokkos_Core.hpp>)
  endif()
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH group)
    cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(NOT group IN_LIST ossatura_long_folders AND NOT group MATCHES "^core/")
      string(REGEX MATCH "^(tests/)?[^/]+(/[^/]+)?" group ${group})
    endif()
    string(REPLACE "/" "_" group ${group})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# A library of the package: ossatura_<name>, alias and export name ossatura::<name>, of all sources
# below the folder <name> or, where given, of those.
function(ossatura_library name)
  set(sources ${ARGN})
  if(NOT sources)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  endif()
  if(sources)
    add_library(ossatura_${name} ${sources})
    ossatura_compile_settings(ossatura_${name})
    ossatura_compile_folders_together(ossatura_${name} ${sources})
    set(scope PUBLIC)
  else()
    add_library(ossatura_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(ossatura::${name} ALIAS ossatura_${name})
  set_target_properties(ossatura_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(ossatura_${name} ${scope} cxx_std_17)
  target_include_directories(ossatura_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ossatura_${name} EXPORT ossaturaTargets)
endfunction()
