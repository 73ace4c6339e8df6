// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/comm/nccl.hpp>

#if defined(OSSATURA_HAS_NCCL)
#include <optional>
#include <stdexcept>

#include <cstdlib>
#include <dlfcn.h>

namespace ossatura {

namespace {

std::optional<Nccl> load_nccl() {
  void* const library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return {};
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
  Nccl nccl{};
  bool complete = true;
  const auto load = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    complete = complete && function != nullptr;
  };
  load(nccl.get_unique_id, "ncclGetUniqueId");
  load(nccl.init_rank, "ncclCommInitRank");
  load(nccl.all_gather, "ncclAllGather");
  load(nccl.send, "ncclSend");
  load(nccl.receive, "ncclRecv");
  load(nccl.group_start, "ncclGroupStart");
  load(nccl.group_end, "ncclGroupEnd");
  load(nccl.error_string, "ncclGetErrorString");
  return complete ? std::optional<Nccl>(nccl) : std::nullopt;
}

} // namespace

void Nccl::require(ncclResult_t result, const char* what) const {
  if (result != ncclSuccess)
    throw std::runtime_error(std::string("NCCL: ") + what + ": " + error_string(result));
}

const Nccl* find_nccl() {
  static const std::optional<Nccl> nccl = load_nccl();
  return nccl ? &*nccl : nullptr;
}

} // namespace ossatura
#endif
