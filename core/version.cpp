// SPDX-License-Identifier: Apache-2.0
#include "core/version.hpp"

#include "git_hash.h" // written by cmake/write_git_hash.cmake

#define FEMURA_STRING_(x) #x
#define FEMURA_STRING(x) FEMURA_STRING_(x)

#if defined(__clang__)
#define FEMURA_HOST_COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define FEMURA_HOST_COMPILER "GNU " __VERSION__
#else
#define FEMURA_HOST_COMPILER "unknown compiler"
#endif

#if defined(__CUDACC__)
#define FEMURA_DEVICE_COMPILER                                                                     \
  ", nvcc " FEMURA_STRING(__CUDACC_VER_MAJOR__) "." FEMURA_STRING(__CUDACC_VER_MINOR__)
#else
#define FEMURA_DEVICE_COMPILER ""
#endif

namespace femura {

const char* version() {
  return FEMURA_VERSION;
}

const char* git_hash() {
  return FEMURA_GIT_HASH;
}

const char* compiler() {
  return FEMURA_HOST_COMPILER FEMURA_DEVICE_COMPILER;
}

} // namespace femura
