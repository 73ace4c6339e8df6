// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/large_pages.hpp>

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace ossatura {

void prefer_large_pages(void* data, std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t worth_it = std::size_t(4) << 20;
  if (bytes < worth_it)
    return;
  const auto page = std::uintptr_t(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE); // advice
#endif
}

} // namespace ossatura
