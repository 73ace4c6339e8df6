// SPDX-License-Identifier: Apache-2.0
// libFuzzer entry for one reader, chosen by OSSATURA_FUZZ_TARGET: a name of reader_targets.hpp.
#include "tests/fuzz/reader_targets.hpp"
#include "tests/fuzz/run_on_bytes.hpp"

#include <cstdint>

#define OSSATURA_JOIN(a, b) a##b
#define OSSATURA_TARGET_OF(name) OSSATURA_JOIN(name, _target)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ossatura_test::run_on_bytes(ossatura_test::OSSATURA_TARGET_OF(OSSATURA_FUZZ_TARGET), data, size);
  return 0;
}
