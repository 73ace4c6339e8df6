// SPDX-License-Identifier: Apache-2.0
// Rows that are compressed, and rows that are not, are in their places, however they come.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/hdf5/compression.hpp>
#include <ossatura/core/io/hdf5/row_writer.hpp>
#include <ossatura/core/io/hdf5/rows_part.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace ossatura;
using ossatura_test::IoThreads;

Hdf5Layout layout_of(Hdf5Compression compression) {
  Hdf5Layout layout;
  layout.gzip = deflate_level(compression);
  return layout;
}

} // namespace

TEST_CASE("each compression has a level", "[row_writer]") {
  CHECK(deflate_level(Hdf5Compression::none) == 0);
  CHECK(deflate_level(Hdf5Compression::fast) > 0);
  CHECK(deflate_level(Hdf5Compression::small) > deflate_level(Hdf5Compression::fast));
  CHECK(deflate_level(Hdf5Compression::small) <= 9); // as HDF5's filter has them
}

TEST_CASE("rows that other processes make lie in the file as those of one", "[row_writer]") {
  const ossatura_test::TestDirectory directory;
  constexpr std::uint64_t rows = 60001; // of 3: some ten chunks
  std::vector<double> expected(3 * rows);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = 0.3 * double(i - i % 5);
  const auto layout = [](Hdf5Compression compression) {
    Hdf5Layout chunks = layout_of(compression);
    if (chunks.gzip > 0)
      chunks.chunk = {5000, 3};
    return chunks;
  };
  // Ranges of rows: within a chunk, of whole ones, of none, of one that ends with the dataset.
  const std::vector<std::vector<std::uint64_t>> cuts = {
      {0, rows}, {20000, 20000, 30000, rows}, {4999, 5001, 5002, 5003, 60000, rows}, {rows, rows}};
  for (const auto mode : name_table<Hdf5Compression>) {
    const auto write = [&](const std::string& path, const std::vector<std::uint64_t>& ends,
                           bool made) {
      Hdf5File file = Hdf5File::create(path);
      {
        Hdf5RowWriter writer(file.root().create<double>("x", {rows, 3}, layout(mode.value)));
        CHECK((writer.layout().rows > 0) == (mode.value != Hdf5Compression::none));
        writer.append(expected.data(), ends[0]); // of the process that writes
        for (std::size_t rank = 1; rank < ends.size(); ++rank) {
          Hdf5RowsPart part(writer.layout(), ends[rank - 1]);
          for (std::uint64_t first = ends[rank - 1]; first < ends[rank]; first += 17000) {
            const std::uint64_t count = std::min<std::uint64_t>(17000, ends[rank] - first);
            if (made)
              part.append(
                  [&](std::uint64_t from, std::uint64_t some, void* values) {
                    std::copy_n(expected.data() + 3 * (first + from), 3 * some,
                                static_cast<double*>(values));
                  },
                  count);
            else
              part.append(expected.data() + 3 * first, count);
            if (part.bytes() > 100000)
              writer.append(part.take());
          }
          writer.append(part.take_last());
        }
      }
      file.close();
    };
    const auto stored = [&](const std::string& path) {
      const Hdf5File file = Hdf5File::open(path);
      const Hdf5Dataset dataset = file.root().dataset("x");
      return std::make_pair(dataset.read<double>(), H5Dget_storage_size(dataset.id()));
    };
    write(directory / "whole.h5", {rows}, false);
    const auto whole = stored(directory / "whole.h5");
    CHECK(whole.first == expected);
    for (const auto& ends : cuts)
      for (const bool made : {false, true})
        for (const int threads : {1, 3}) {
          INFO(mode.name << ", " << threads << " threads, first " << ends[0] << ", made " << made);
          const IoThreads chosen(threads);
          write(directory / "cut.h5", ends, made);
          CHECK((stored(directory / "cut.h5") == whole));
        }
  }
}

TEST_CASE("rows given and rows made follow each other", "[row_writer]") {
  const ossatura_test::TestDirectory directory;
  constexpr std::uint64_t rows = 700001; // of 3: two blocks where they are not compressed
  std::vector<std::int32_t> expected(3 * rows);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::int32_t(i ^ (i >> 3));
  for (const auto mode : name_table<Hdf5Compression>)
    for (const int threads : {1, 4}) {
      INFO(mode.name << ", " << threads << " threads");
      const IoThreads chosen(threads);
      Hdf5File file = Hdf5File::create(directory / "x.h5");
      {
        Hdf5RowWriter writer(
            file.root().create<std::int32_t>("x", {rows, 3}, layout_of(mode.value)));
        CHECK(writer.row_size() == 3);
        std::uint64_t before = 0;
        for (const std::uint64_t count : {std::uint64_t(1), std::uint64_t(0), std::uint64_t(50000),
                                          std::uint64_t(600000), rows - 650001}) {
          if (count % 50000 == 0)
            writer.append_made<std::int32_t>(
                count, [&](std::uint64_t first, std::uint64_t some, std::int32_t* values) {
                  std::copy_n(expected.data() + 3 * (before + first), 3 * some, values);
                });
          else
            writer.append(expected.data() + 3 * before, count);
          before += count;
        }
        CHECK(before == rows);
      }
      file.close();
      CHECK(Hdf5File::open(directory / "x.h5").root().dataset("x").read<std::int32_t>() ==
            expected);
    }
}

TEST_CASE("rows are converted, empty datasets take none, and none come after the last",
          "[row_writer]") {
  const ossatura_test::TestDirectory directory;
  const std::vector<std::int32_t> values = {1, -2, 3, 2147483647};
  for (const auto mode : name_table<Hdf5Compression>) {
    INFO(mode.name);
    Hdf5File file = Hdf5File::create(directory / "x.h5");
    {
      Hdf5RowWriter writer(file.root().create<std::int64_t>("x", {4}, layout_of(mode.value)));
      writer.append(values.data(), 4);
      CHECK_THROWS_AS(writer.append(values.data(), 1), std::invalid_argument);
      CHECK(writer.dataset().read<std::int64_t>() ==
            std::vector<std::int64_t>(values.begin(), values.end()));
      Hdf5RowWriter empty(file.root().create<double>("y", {0, 3}, layout_of(mode.value)));
      empty.append_made<double>(0, [](std::uint64_t, std::uint64_t, double*) {
        throw std::logic_error("there are no rows");
      });
      empty.append(static_cast<const double*>(nullptr), 0);
    }
    file.close();
  }
}

TEST_CASE("what cannot be made is not in the file", "[row_writer]") {
  const ossatura_test::TestDirectory directory;
  for (const auto mode : name_table<Hdf5Compression>) {
    INFO(mode.name);
    Hdf5File file = Hdf5File::create(directory / "x.h5");
    Hdf5RowWriter writer(file.root().create<double>("x", {100000}, layout_of(mode.value)));
    CHECK_THROWS_AS(
        writer.append_made<double>(100000, [](std::uint64_t, std::uint64_t,
                                              double*) { throw std::runtime_error("no more"); }),
        std::runtime_error);
  }
}
