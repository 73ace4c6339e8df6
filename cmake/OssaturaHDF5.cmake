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

  # For the command line in the module of a Python wheel. Debian's libhdf5.a is position-independent in so far as
  # executables are: a module cannot take stderr and stdout, variables of the C library, for its own. A copy has two.
  get_target_property(hdf5_archive hdf5::hdf5 IMPORTED_LOCATION)
  if(OSSATURA_PYTHON AND OSSATURA_ENABLE_APPS AND hdf5_archive MATCHES "\\.a$")
    set(hdf5_copy ${PROJECT_BINARY_DIR}/hdf5/libhdf5.a)
    if(${hdf5_archive} IS_NEWER_THAN ${hdf5_copy}) # or where there is no copy
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/hdf5)
      execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=ossatura_hdf5_stderr
        --redefine-sym stdout=ossatura_hdf5_stdout ${hdf5_archive} ${hdf5_copy} COMMAND_ERROR_IS_FATAL ANY)
    endif()
    add_library(ossatura_hdf5_streams STATIC ${PROJECT_SOURCE_DIR}/cmake/hdf5_streams.cpp)
    set_target_properties(hdf5::hdf5 PROPERTIES IMPORTED_LOCATION ${hdf5_copy})
    set_property(TARGET hdf5::hdf5 APPEND PROPERTY INTERFACE_LINK_LIBRARIES ossatura_hdf5_streams)
  endif()
endif()
