// SPDX-License-Identifier: Apache-2.0
// IoThreads chooses how many threads read and write files, while it lives.
#pragma once

#include <ossatura/core/machine/processors.hpp>

namespace ossatura_test {

struct IoThreads {
  explicit IoThreads(int count) { ossatura::set_io_threads(count); }
  ~IoThreads() { ossatura::set_io_threads(ossatura::available_processors()); }
};

} // namespace ossatura_test
