// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/attribute_numbers.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace ossatura;
using namespace ossatura_test;

namespace {

template<class T>
void check_round_trip(Hdf5Group& group, const std::string& name, const Hdf5Layout& layout) {
  const std::vector<T> values = ramp<T>();
  group.write(name, {2, 3, 4}, values.data(), layout);
  const Hdf5Dataset dataset = group.dataset(name);
  CHECK(dataset.shape() == std::vector<std::uint64_t>{2, 3, 4});
  CHECK(dataset.template read<T>() == values);
}

} // namespace

TEST_CASE("every number type survives a file, plain and compressed", "[hdf5]") {
  const TestDirectory directory;
  Hdf5File file = Hdf5File::create(directory / "a.h5");
  int run = 0;
  for (const int gzip : {0, 4}) {
    Hdf5Layout layout;
    layout.gzip = gzip;
    Hdf5Group group = file.root().create_group("run" + std::to_string(run++));
    check_round_trip<float>(group, "float", layout);
    check_round_trip<double>(group, "double", layout);
    check_round_trip<std::int8_t>(group, "i8", layout);
    check_round_trip<std::uint8_t>(group, "u8", layout);
    check_round_trip<std::int16_t>(group, "i16", layout);
    check_round_trip<std::uint16_t>(group, "u16", layout);
    check_round_trip<std::int32_t>(group, "i32", layout);
    check_round_trip<std::uint32_t>(group, "u32", layout);
    check_round_trip<std::int64_t>(group, "i64", layout);
    check_round_trip<std::uint64_t>(group, "u64", layout);
  }
}

TEST_CASE("values convert on reading, but never silently from reals to integers", "[hdf5]") {
  const TestDirectory directory;
  Hdf5File file = Hdf5File::create(directory / "a.h5");
  Hdf5Group root = file.root();
  root.write("integers", {3}, std::vector<std::int64_t>{-1, 2, 3000000000}.data());
  CHECK(root.dataset("integers").read<double>() == std::vector<double>{-1, 2, 3e9});
  CHECK(root.dataset("integers").read<std::int32_t>() ==
        std::vector<std::int32_t>{-1, 2, 2147483647}); // clamped
  root.write_scalar("real", 1.5);
  CHECK(root.dataset("real").read_scalar<double>("") == 1.5);
  CHECK(root.dataset("real").shape().empty());
  CHECK_SAYS(error_of([&] { root.dataset("real").read<int>(); }), "a.h5: /real",
             "floating-point numbers", "integers are expected");
  CHECK_SAYS(error_of([&] { root.dataset("integers").read_scalar<double>("write one"); }),
             "/integers has 3 values", "write one");
  CHECK_SAYS(error_of([&] { root.dataset("integers").require_rank(2, "write a table"); }),
             "has rank 1 (3)", "write a table");
}

TEST_CASE("rows are appended and overwritten", "[hdf5]") {
  const TestDirectory directory;
  {
    Hdf5File file = Hdf5File::create(directory / "a.h5");
    {
      Hdf5Layout layout;
      layout.extendible = true;
      layout.gzip = 4;
      Hdf5Dataset table = file.root().create<double>("table", {0, 2}, layout);
      for (int i = 0; i < 5; ++i)
        table.append(1, std::vector<double>{double(i), double(-i)}.data());
      table.write_rows(1, 2, std::vector<double>{10, 11, 12, 13}.data());
      CHECK_THROWS_AS(table.write_rows(4, 2, std::vector<double>(4).data()), std::invalid_argument);
    }
    file.close();
  }
  const Hdf5File file = Hdf5File::open(directory / "a.h5");
  const Hdf5Dataset table = file.root().dataset("table");
  CHECK(table.shape() == std::vector<std::uint64_t>{5, 2});
  CHECK(table.read<double>() == std::vector<double>{0, 0, 10, 11, 12, 13, 3, -3, 4, -4});
}

TEST_CASE("compression makes a smooth field smaller", "[hdf5]") {
  const TestDirectory directory;
  const std::vector<double> values(1 << 18, 1.25); // two chunks
  for (const int gzip : {0, 4}) {
    Hdf5File file = Hdf5File::create(directory / ("a" + std::to_string(gzip)));
    Hdf5Layout layout;
    layout.gzip = gzip;
    file.root().write("values", {values.size() / 2, 2}, values.data(), layout);
    CHECK(file.root().dataset("values").read<double>() == values);
    file.close();
  }
  CHECK(std::filesystem::file_size(directory / "a0") > values.size() * 8);
  CHECK(std::filesystem::file_size(directory / "a4") < values.size() / 10);
}

TEST_CASE("attributes are text and lists of numbers, and can be replaced", "[hdf5]") {
  const TestDirectory directory;
  Hdf5File file = Hdf5File::create(directory / "a.h5");
  Hdf5Group group = file.root().create_group("run");
  CHECK_FALSE(group.has_attribute("note"));
  for (const std::string text : {"first", "", "spacing 60.7 \xc2\xb5m"}) {
    group.set_attribute("note", text);
    CHECK(group.text_attribute("note") == text);
  }
  const std::string config(200000, 'c'); // longer than the 64 KiB of the old format
  group.set_attribute("config", config);
  CHECK(group.text_attribute("config") == config);
  group.set_attribute("extent", std::vector<double>{7});
  group.set_attribute("extent", std::vector<std::int64_t>{0, 4, -1});
  CHECK_SAYS(error_of([&] { group.text_attribute("extent"); }), "a.h5: /run", "'extent'");
  CHECK_SAYS(error_of([&] { group.text_attribute("none"); }), "'none'");
  CHECK(numbers_of(group.id(), "extent") == std::vector<std::int64_t>{0, 4, -1});
}

TEST_CASE("missing objects are listed with what is there, and the library stays silent", "[hdf5]") {
  const TestDirectory directory;
  Hdf5File file = Hdf5File::create(directory / "a.h5", "shown.h5");
  Hdf5Group root = file.root();
  CHECK_SAYS(error_of([&] { root.dataset("x"); }), "shown.h5: /", "'x'", "it is empty");
  root.create_group("mesh").write_scalar("n", 1);
  CHECK(root.has("mesh"));
  CHECK_FALSE(root.has("x"));
  CHECK_SAYS(error_of([&] { root.group("mesh").dataset("m"); }), "shown.h5: /mesh", "it has n");
  CHECK_SAYS(error_of([&] { root.group("mesh").group("n"); }), "/mesh/n: is not a group");
  CHECK_SAYS(error_of([&] { root.dataset("mesh"); }), "/mesh: is not a dataset");
  CHECK_SAYS(error_of([&] { root.create_group("mesh"); }), "cannot be created");
  root.remove("mesh");
  root.remove("mesh"); // nothing to do
  CHECK_FALSE(root.has("mesh"));
  CHECK_SAYS(error_of([&] { Hdf5File::create(directory / "no/such/a.h5"); }), "cannot be created");
  // The caller's way of printing errors is as it was.
  H5E_auto2_t print = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &data);
  CHECK(print != nullptr);
}

TEST_CASE("threads write and read files of their own at a time", "[hdf5]") {
  const TestDirectory directory;
  const std::vector<double> values = ramp<double>(6000);
  std::atomic<int> right = 0;
  const auto work = [&](const std::string& path) {
    for (int round = 0; round < 20; ++round) {
      {
        Hdf5File file = Hdf5File::create(path);
        Hdf5Layout layout;
        layout.gzip = round % 3;
        file.root().write("x", {2000, 3}, values.data(), layout);
        file.root().set_attribute("round", std::to_string(round));
        file.close();
      }
      const Hdf5Group root = Hdf5File::open(path).root();
      bool refused = false; // errors are those of the thread
      try {
        root.group("y");
      } catch (const InputError& error) {
        refused = std::string(error.what()).find(path) != std::string::npos;
      }
      right += refused && root.dataset("x").read<double>() == values &&
               root.text_attribute("round") == std::to_string(round);
    }
  };
  std::vector<std::thread> threads;
  for (const char* name : {"a.h5", "b.h5", "c.h5"})
    threads.emplace_back([&work, path = directory / name] { work(path); });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(right == 60);
}
