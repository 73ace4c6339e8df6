// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer entry for one reader, chosen by FEMURA_FUZZ_TARGET (parosol, metaimage, nifti, surface,
// raw, format). The readers take a path, so the input goes through a file in memory.
#include "tests/fuzz/reader_targets.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#define FEMURA_JOIN(a, b) a##b
#define FEMURA_TARGET_OF(name) FEMURA_JOIN(name, _target)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("femura-fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ::ftruncate(file, 0) != 0 ||
      ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::perror("femura fuzz target");
    std::abort();
  }
  femura_test::FEMURA_TARGET_OF(FEMURA_FUZZ_TARGET)(path); // an exception that escapes is a finding
  return 0;
}
