# SPDX-License-Identifier: Apache-2.0
# What the library links. Apps, benchmarks and tests find their own in their folders.

find_package(Kokkos QUIET) # any version: CMake's own refusal would be that there is none
if(NOT Kokkos_FOUND)
  message(FATAL_ERROR
    "Kokkos 4.5 to 4.x was not found. Either run scripts/setup, which builds one into .deps/, and "
    "configure with a preset (cmake --preset dev), or give the prefix of your own: "
    "-DKokkos_ROOT=<prefix>.")
endif()
if(Kokkos_ENABLE_CUDA)
  set(oldest 4.6)
else()
  set(oldest 4.5)
endif()
if(Kokkos_VERSION VERSION_LESS ${oldest} OR Kokkos_VERSION VERSION_GREATER_EQUAL 5)
  message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} with ${Kokkos_DEVICES} in ${Kokkos_DIR}: ossatura "
    "needs 4.5 to 4.x, with CUDA 4.6 to 4.x")
endif()
message(STATUS "Kokkos ${Kokkos_VERSION} with ${Kokkos_DEVICES} in ${Kokkos_DIR}")

if(OSSATURA_STATIC_DEPENDENCIES)
  set(HDF5_USE_STATIC_LIBRARIES ON)
  set(ZLIB_USE_STATIC_LIBS ON) # CMake 3.24
endif()
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
include(OssaturaHDF5)
include(OssaturaMETIS)
include(OssaturaLibdeflate)
if(NOT HDF5_FOUND OR NOT METIS_FOUND OR NOT libdeflate_FOUND)
  message(FATAL_ERROR "ossatura needs HDF5 1.10 or later, METIS 5.1 and libdeflate: scripts/setup installs "
    "them (Debian: libhdf5-dev, libmetis-dev, libdeflate-dev); HDF5_ROOT and METIS_LIBRARY, "
    "METIS_INCLUDE_DIR, LIBDEFLATE_LIBRARY, LIBDEFLATE_INCLUDE_DIR name others")
endif()
include(OssaturaKokkosKernels)
if(KokkosKernels_FOUND)
  set(OSSATURA_KOKKOS_KERNELS ON)
else()
  set(OSSATURA_KOKKOS_KERNELS OFF)
  message(STATUS "Kokkos Kernels was not found: soft bodies have no product by it")
endif()

# Many processes: without MPI everything runs in one.
option(OSSATURA_ENABLE_MPI "Run in many processes, where MPI is found" ON)
set(OSSATURA_HAS_MPI OFF)
if(OSSATURA_ENABLE_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(OSSATURA_HAS_MPI ON)
    message(STATUS "MPI ${MPI_C_VERSION}: ${MPIEXEC_EXECUTABLE}")
  else()
    message(STATUS "MPI was not found: one process (Debian: libopenmpi-dev, openmpi-bin)")
  endif()
endif()

# DICOM series: without GDCM they are refused.
option(OSSATURA_ENABLE_DICOM "Read DICOM series, where GDCM is found" ON)
set(OSSATURA_HAS_GDCM OFF)
if(OSSATURA_ENABLE_DICOM)
  include(OssaturaGDCM)
  if(OSSATURA_STATIC_DEPENDENCIES)
    message(STATUS "DICOM is not read by builds with OSSATURA_STATIC_DEPENDENCIES: GDCM is shared")
  elseif(GDCM_FOUND)
    set(OSSATURA_HAS_GDCM ON)
    message(STATUS "GDCM in ${GDCM_INCLUDE_DIR}: DICOM is read")
  else()
    message(STATUS "GDCM was not found: DICOM is not read (Debian: libgdcm-dev)")
  endif()
endif()
