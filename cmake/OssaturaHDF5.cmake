# SPDX-License-Identifier: Apache-2.0
# HDF5_FOUND and hdf5::hdf5, also for the installed package. CMake's FindHDF5 leaves what a static libhdf5 needs
# out of that target. Of h5cc's list only the szip and deflate filters are reached by our calls;
# curl and crypto belong to a driver for remote files that nothing here opens.
find_package(HDF5 1.10 QUIET COMPONENTS C)
if(HDF5_FOUND AND HDF5_USE_STATIC_LIBRARIES)
  find_library(OSSATURA_SZIP_LIBRARY NAMES libsz.a libszaec.a)
  find_library(OSSATURA_AEC_LIBRARY NAMES libaec.a)
  foreach(library IN LISTS OSSATURA_SZIP_LIBRARY OSSATURA_AEC_LIBRARY)
    if(library)
      set_property(TARGET hdf5::hdf5 APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
    endif()
  endforeach()
  set_property(TARGET hdf5::hdf5 APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS} m)
endif()
