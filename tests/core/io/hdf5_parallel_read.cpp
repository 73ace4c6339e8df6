// SPDX-License-Identifier: Apache-2.0
// Rows that all threads read are those that the HDF5 library reads.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/hdf5/parallel_read.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace ossatura;
using namespace ossatura_test;

const std::vector<std::uint64_t> rows_shape = {37, 23, 19};

template<class T>
std::vector<T> row_numbers() {
  std::vector<T> values;
  for (std::uint64_t i = 0; i < rows_shape[0] * rows_shape[1] * rows_shape[2]; ++i)
    values.push_back(T(i * i % 1009));
  return values;
}

template<class T>
std::string write_rows(const TestDirectory& directory, const std::string& name,
                       const Hdf5Layout& layout, std::uint64_t user_block = 0) {
  const std::string path = directory / (name + ".h5");
  Hdf5File file = Hdf5File::create(path, {}, user_block);
  {
    Hdf5Group root = file.root();
    root.write("x", rows_shape, row_numbers<T>().data(), layout);
  }
  file.close();
  return path;
}

void check_rows(const std::string& path) {
  const Hdf5Dataset dataset = Hdf5File::open(path).root().dataset("x");
  const std::vector<float> all = row_numbers<float>();
  const std::uint64_t row = rows_shape[1] * rows_shape[2];
  for (const auto& [first, rows] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 37}, {0, 1}, {5, 11}, {36, 1}, {9, 0}}) {
    CAPTURE(path, first, rows);
    const std::vector<float> wanted(all.begin() + std::ptrdiff_t(first * row),
                                    all.begin() + std::ptrdiff_t((first + rows) * row));
    CHECK(read_rows_by_threads<float>(dataset, first, rows) == wanted);
    CHECK_NOTHROW(try_rows_by_threads<float>(dataset, first, rows));
  }
}

TEST_CASE("Rows of floats by all threads are those of the library", "[io]") {
  const TestDirectory directory;
  const IoThreads threads(3);
  check_rows(write_rows<float>(directory, "plain", {}));
  check_rows(write_rows<float>(directory, "behind-a-block", {}, 512));
  check_rows(write_rows<float>(directory, "deflated", {4, false, {}}));
  check_rows(write_rows<float>(directory, "deflated-behind-a-block", {4, false, {}}, 1024));
  check_rows(write_rows<float>(directory, "uneven", {1, false, {4, 10, 7}}));
  check_rows(write_rows<float>(directory, "chunks", {0, true, {5, 23, 6}}));   // without filters
  check_rows(write_rows<double>(directory, "doubles", {4, false, {8, 8, 8}})); // by the library
  check_rows(write_rows<std::uint16_t>(directory, "integers", {}));
}

TEST_CASE("Chunks that were never written have what the library says", "[io]") {
  const TestDirectory directory;
  const std::string path = directory / "holes.h5";
  Hdf5File file = Hdf5File::create(path);
  {
    Hdf5Group root = file.root();
    Hdf5Dataset dataset = root.create<float>("x", rows_shape, {4, false, {4, 23, 19}});
    const std::vector<float> values = row_numbers<float>();
    dataset.write_rows(0, 4, values.data());
  }
  file.close();
  const Hdf5Dataset dataset = Hdf5File::open(path).root().dataset("x");
  CHECK(read_rows_by_threads<float>(dataset, 0, 37) == dataset.read_rows<float>(0, 37));
  CHECK(read_rows_by_threads<float>(dataset, 0, 4) == dataset.read_rows<float>(0, 4));
}

TEST_CASE("A chunk with damaged bytes is an error", "[io]") {
  const TestDirectory directory;
  const std::string path = write_rows<float>(directory, "damaged", {9, false, {37, 23, 19}});
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(0, std::ios::end);
  const std::streamoff size = bytes.tellg();
  std::string all(std::size_t(size), ' ');
  bytes.seekg(0);
  bytes.read(all.data(), size);
  const std::size_t deflate = all.find("\x78\xda"); // zlib, level 9
  REQUIRE(deflate != std::string::npos);
  bytes.seekp(std::streamoff(deflate) + 100);
  bytes.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  bytes.close();
  const Hdf5Dataset dataset = Hdf5File::open(path).root().dataset("x");
  CHECK_SAYS(error_of([&] { read_rows_by_threads<float>(dataset, 0, 37); }), "damaged.h5: /x",
             "damaged");
}

} // namespace
