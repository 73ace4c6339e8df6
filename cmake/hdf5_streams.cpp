// SPDX-License-Identifier: Apache-2.0
// What a copy of libhdf5.a that goes into a module has in place of stderr and stdout: OssaturaHDF5.cmake.
#include <cstdio>

extern "C" {
extern std::FILE *ossatura_hdf5_stderr, *ossatura_hdf5_stdout;
std::FILE* ossatura_hdf5_stderr = stderr;
std::FILE* ossatura_hdf5_stdout = stdout;
}
