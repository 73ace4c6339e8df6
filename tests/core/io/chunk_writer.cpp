// SPDX-License-Identifier: Apache-2.0
// Datasets that threads compress: HDF5's own filters read them, and any number of threads writes
// the same bytes.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/hdf5/chunk_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace ossatura;
using ossatura_test::IoThreads;

enum class Values {
  steps,  ///< which deflate makes small
  random, ///< bits, which it makes longer
  results ///< noise in the low bytes
};

std::vector<double> values_of(std::size_t count, Values kind) {
  std::mt19937_64 random(count);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    double any = 0;
    std::memcpy(&any, &bits, sizeof any);
    const std::size_t step = i / 7;
    values[i] = kind == Values::steps     ? double(step)
                : kind == Values::results ? 1 + 1e-5 * double(bits >> 12) / double(1ull << 52)
                : any == any              ? any
                                          : 1.0;
  }
  return values;
}

/// Chunk by chunk what lies in the file: which filters were skipped, and the bytes.
std::vector<std::pair<std::uint32_t, std::vector<unsigned char>>>
chunks_of(const std::string& path, const std::string& name = "x", hsize_t chunk_rows = 100) {
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Dataset dataset = file.root().dataset(name);
  std::vector<std::pair<std::uint32_t, std::vector<unsigned char>>> chunks;
  const std::uint64_t rows = dataset.shape()[0];
  for (hsize_t offset[2] = {0, 0}; offset[0] < rows; offset[0] += chunk_rows) {
    hsize_t size = 0;
    REQUIRE(H5Dget_chunk_storage_size(dataset.id(), offset, &size) >= 0);
    chunks.emplace_back(0, std::vector<unsigned char>(size));
    REQUIRE(H5Dread_chunk(dataset.id(), H5P_DEFAULT, offset, &chunks.back().first,
                          chunks.back().second.data()) >= 0);
  }
  return chunks;
}

/// Writes rows of 3 in parts of `part` rows.
void write(const std::string& path, const std::vector<double>& values, std::uint64_t part) {
  Hdf5File file = Hdf5File::create(path);
  const std::uint64_t rows = values.size() / 3;
  Hdf5Layout layout;
  layout.gzip = 4;
  layout.chunk = {std::min<std::uint64_t>(rows, 100), 3};
  {
    Hdf5Group root = file.root();
    const auto dataset = std::make_shared<Hdf5Dataset>(root.create<double>("x", {rows, 3}, layout));
    const auto chunks = Hdf5ChunkWriter::of(dataset);
    REQUIRE(chunks);
    for (std::uint64_t first = 0; first < rows; first += part)
      chunks->append(values.data() + 3 * first, std::min(part, rows - first),
                     hdf5_native_type<double>());
  }
  file.close();
}

} // namespace

TEST_CASE("HDF5 reads what threads compress", "[chunk_writer]") {
  const ossatura_test::TestDirectory directory;
  for (const std::uint64_t rows : {1u, 99u, 100u, 101u, 5000u, 12345u})
    for (const Values kind : {Values::steps, Values::random, Values::results}) {
      const std::vector<double> values = values_of(3 * rows, kind);
      std::optional<std::vector<std::pair<std::uint32_t, std::vector<unsigned char>>>> expected;
      for (const int threads : {1, 2, 5})
        for (const std::uint64_t part :
             {rows, std::uint64_t(1), std::uint64_t(70), std::uint64_t(1030)}) {
          if (part == 1 && rows > 200)
            continue;
          const IoThreads chosen(threads);
          INFO(rows << " rows, " << threads << " threads, parts of " << part);
          write(directory / "x.h5", values, part);
          const auto chunks = chunks_of(directory / "x.h5");
          CHECK(chunks == expected.value_or(chunks));
          expected = chunks;
          CHECK(Hdf5File::open(directory / "x.h5").root().dataset("x").read<double>() == values);
        }
    }
}

TEST_CASE("Datasets of one chunk wait, and are the same", "[chunk_writer]") {
  const ossatura_test::TestDirectory directory;
  const std::vector<std::uint64_t> sizes = {1, 600, 5000, 20000}; // some take a thread
  const auto write_all = [&](const std::string& path, std::uint64_t parts, bool wait) {
    Hdf5File file = Hdf5File::create(path);
    Hdf5PendingChunks pending;
    {
      Hdf5Group root = file.root();
      for (const std::uint64_t rows : sizes) {
        Hdf5Layout layout;
        layout.gzip = 2;
        const auto dataset = std::make_shared<Hdf5Dataset>(
            root.create<double>("x" + std::to_string(rows), {rows, 3}, layout));
        const auto chunks = Hdf5ChunkWriter::of(dataset, wait ? &pending : nullptr);
        REQUIRE(chunks);
        const std::vector<double> values = values_of(3 * rows, Values::results);
        const std::uint64_t part = (rows + parts - 1) / parts;
        for (std::uint64_t first = 0; first < rows; first += part)
          chunks->append(values.data() + 3 * first, std::min(part, rows - first),
                         hdf5_native_type<double>());
      }
    }
    pending.write();
    file.close();
  };
  write_all(directory / "expected.h5", 1, false);
  for (const int threads : {1, 2, 5})
    for (const std::uint64_t parts : {1, 3}) {
      const IoThreads chosen(threads);
      write_all(directory / "x.h5", parts, true);
      for (const std::uint64_t rows : sizes) {
        INFO(rows << " rows, " << threads << " threads, " << parts << " parts");
        const std::string name = "x" + std::to_string(rows);
        CHECK(chunks_of(directory / "x.h5", name, rows) ==
              chunks_of(directory / "expected.h5", name, rows));
        CHECK(Hdf5File::open(directory / "x.h5").root().dataset(name).read<double>() ==
              values_of(3 * rows, Values::results));
      }
    }
}

TEST_CASE("Pending chunks that cannot be written are errors", "[chunk_writer]") {
  const ossatura_test::TestDirectory directory;
  Hdf5File file = Hdf5File::create(directory / "x.h5");
  Hdf5PendingChunks pending;
  const auto add = [&](const char* name, int gzip) {
    Hdf5Layout layout;
    layout.gzip = gzip; // 0: without chunks
    pending.add(std::make_shared<Hdf5Dataset>(file.root().create<double>(name, {4000}, layout)),
                std::vector<unsigned char>(8 * 4000, 1), 8, 2);
  };
  add("before", 2);
  add("contiguous", 0);
  add("behind", 2);
  CHECK_THROWS_WITH(pending.write(), ContainsSubstring("contiguous: cannot be written"));
  pending.write(); // there are none any more
  file.close();
  const Hdf5Group root = Hdf5File::open(directory / "x.h5").root();
  CHECK(root.dataset("before").read<double>()[3999] != 0);
  CHECK(root.dataset("behind").read<double>()[3999] == 0);
}

TEST_CASE("Numbers of elements are widened by the threads", "[chunk_writer]") {
  const ossatura_test::TestDirectory directory;
  std::vector<std::int32_t> values(10007);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::int32_t(i % 2 ? 1 : -1) * std::int32_t(i * 99991);
  for (const int threads : {1, 3})
    for (const std::uint64_t part : {std::uint64_t(10007), std::uint64_t(333)}) {
      const IoThreads chosen(threads);
      Hdf5File file = Hdf5File::create(directory / "x.h5");
      Hdf5Layout layout;
      layout.gzip = 2;
      layout.chunk = {100};
      {
        const auto dataset = std::make_shared<Hdf5Dataset>(
            file.root().create<std::int64_t>("x", {values.size()}, layout));
        const auto chunks = Hdf5ChunkWriter::of(dataset);
        REQUIRE(chunks);
        for (std::uint64_t first = 0; first < values.size(); first += part)
          chunks->append(values.data() + first, std::min(part, values.size() - first),
                         hdf5_native_type<std::int32_t>());
      }
      file.close();
      CHECK(Hdf5File::open(directory / "x.h5").root().dataset("x").read<std::int64_t>() ==
            std::vector<std::int64_t>(values.begin(), values.end()));
    }
}

TEST_CASE("Rows that threads make are in their places, in the type of the dataset",
          "[chunk_writer]") {
  const ossatura_test::TestDirectory directory;
  constexpr std::uint64_t rows = 1234;
  std::vector<std::int64_t> expected(2 * rows);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::int64_t(i * i);
  for (const int threads : {1, 4})
    for (const std::uint64_t part : {rows, std::uint64_t(130), std::uint64_t(7)}) {
      const IoThreads chosen(threads);
      Hdf5File file = Hdf5File::create(directory / "x.h5");
      Hdf5Layout layout;
      layout.gzip = 2;
      layout.chunk = {100, 2};
      {
        const auto dataset =
            std::make_shared<Hdf5Dataset>(file.root().create<std::int64_t>("x", {rows, 2}, layout));
        const auto chunks = Hdf5ChunkWriter::of(dataset);
        REQUIRE(chunks);
        for (std::uint64_t before = 0; before < rows; before += part) {
          const auto make = [&](std::uint64_t first, std::uint64_t count, void* values) {
            std::copy_n(expected.data() + 2 * (before + first), 2 * count,
                        static_cast<std::int64_t*>(values));
          };
          if (before == 0)
            CHECK_THROWS_AS(chunks->append(make, 0, hdf5_native_type<double>()),
                            std::invalid_argument);
          chunks->append(make, std::min(part, rows - before), hdf5_native_type<std::int64_t>());
        }
      }
      file.close();
      CHECK(Hdf5File::open(directory / "x.h5").root().dataset("x").read<std::int64_t>() ==
            expected);
    }
}

TEST_CASE("Values are converted, and too many rows refused", "[chunk_writer]") {
  const ossatura_test::TestDirectory directory;
  const std::vector<std::int32_t> values = {1, -2, 3, 2147483647, -2147483647};
  Hdf5File file = Hdf5File::create(directory / "x.h5");
  Hdf5Layout layout;
  layout.gzip = 1;
  layout.chunk = {2};
  {
    const auto dataset =
        std::make_shared<Hdf5Dataset>(file.root().create<std::int64_t>("x", {5}, layout));
    const auto chunks = Hdf5ChunkWriter::of(dataset);
    REQUIRE(chunks);
    chunks->append(values.data(), 5, hdf5_native_type<std::int32_t>());
    CHECK_THROWS_AS(chunks->append(values.data(), 1, hdf5_native_type<std::int32_t>()),
                    std::invalid_argument);
    CHECK(dataset->read<std::int64_t>() ==
          std::vector<std::int64_t>{1, -2, 3, 2147483647, -2147483647});
    layout.gzip = 0;
    layout.extendible = true;
    const auto plain = std::make_shared<Hdf5Dataset>(file.root().create<double>("y", {5}, layout));
    CHECK_FALSE(Hdf5ChunkWriter::of(plain));
  }
  file.close();
}
