// SPDX-License-Identifier: Apache-2.0
// libFuzzer entry for one reader, chosen by OSSATURA_FUZZ_TARGET (parosol, metaimage, nifti,
// nrrd, scanco, surface, raw, format, opencarp, gmsh, vtk_legacy, vtu, vtx, elements, models,
// nodal_list, cell_values). The readers take a path, so the input goes through a file (set TMPDIR
// to a file system in memory).
#include "tests/fuzz/reader_targets.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#define OSSATURA_JOIN(a, b) a##b
#define OSSATURA_TARGET_OF(name) OSSATURA_JOIN(name, _target)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A new file each time: HDF5 knows files by device and inode, and keeps some damaged ones open.
  std::string path = (std::filesystem::temp_directory_path() / "ossatura-fuzz-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) {
    std::perror("ossatura fuzz target");
    std::abort();
  }
  ::close(file);
  ossatura_test::OSSATURA_TARGET_OF(OSSATURA_FUZZ_TARGET)(
      path); // an exception that escapes is a finding
  ::unlink(path.c_str());
  return 0;
}
