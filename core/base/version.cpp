// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/version.hpp>

#include "git_hash.h" // written by cmake/write_git_hash.cmake

#define OSSATURA_STRING_(x) #x
#define OSSATURA_STRING(x) OSSATURA_STRING_(x)

#if defined(__clang__)
#define OSSATURA_HOST_COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define OSSATURA_HOST_COMPILER "GNU " __VERSION__
#else
#define OSSATURA_HOST_COMPILER "unknown compiler"
#endif

#if defined(__CUDACC__)
#define OSSATURA_DEVICE_COMPILER                                                                   \
  ", nvcc " OSSATURA_STRING(__CUDACC_VER_MAJOR__) "." OSSATURA_STRING(__CUDACC_VER_MINOR__)
#else
#define OSSATURA_DEVICE_COMPILER ""
#endif

namespace ossatura {

const char* version() {
  return OSSATURA_VERSION;
}

const char* git_hash() {
  return OSSATURA_GIT_HASH;
}

const char* compiler() {
  return OSSATURA_HOST_COMPILER OSSATURA_DEVICE_COMPILER;
}

} // namespace ossatura
