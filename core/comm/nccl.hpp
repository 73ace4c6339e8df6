// SPDX-License-Identifier: Apache-2.0
// NCCL is looked for when it is first needed: the executable starts without it, and runs where it
// is not installed.
#pragma once

#include <ossatura/core/base/backend.hpp>

#if defined(KOKKOS_ENABLE_CUDA) && __has_include(<nccl.h>)
#define OSSATURA_HAS_NCCL 1
#include <nccl.h>

#include <string>

namespace ossatura {

/// The functions of NCCL that are used here.
struct Nccl {
  decltype(&::ncclGetUniqueId) get_unique_id;
  decltype(&::ncclCommInitRank) init_rank;
  decltype(&::ncclAllGather) all_gather;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) receive;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclGetErrorString) error_string;

  /// Throws std::runtime_error where a call did not succeed.
  void require(ncclResult_t result, const char* what) const;
};

/// NCCL of this machine (libnccl.so.2), loaded by the first call; null where there is none. Turns
/// NVLink multicast off, unless the environment says otherwise (NCCL_NVLS_ENABLE): it gains nothing
/// for messages of our sizes, and takes device memory.
const Nccl* find_nccl();

} // namespace ossatura
#endif
