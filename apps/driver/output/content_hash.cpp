// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/content_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace ossatura {

struct ContentHash::State {
  XXH64_state_t xxh64;
};

ContentHash::ContentHash()
    : state_(std::make_unique<State>()) {
  XXH64_reset(&state_->xxh64, 0);
}

ContentHash::~ContentHash() = default;

void ContentHash::add_bytes(const void* data, std::size_t bytes) {
  if (bytes > 0)
    XXH64_update(&state_->xxh64, data, bytes);
}

std::string ContentHash::digits() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH64_digest(&state_->xxh64)));
  return text;
}

} // namespace ossatura
