// SPDX-License-Identifier: Apache-2.0
// A value per point as openCARP's tools read it: .dat and .igb.
#include <ossatura/core/io/mesh/tetra_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cstdlib>
#include <map>
#include <sstream>

using namespace ossatura;
using namespace ossatura_test;

TEST_CASE("a .dat file has a number per line, which reads back exactly", "[igb]") {
  const TestDirectory directory;
  std::vector<float> values{0, -1, 12.5f, 0.1f, 1e-30f, -3.4028235e38f, 138.00002f};
  for (int i = 0; i < 200000; ++i) // more than one block
    values.push_back(float(i) / 7);
  write_dat(directory / "act.dat", values);
  CHECK(directory.count() == 1);
  const Bytes text = read_bytes_of(directory / "act.dat");
  CHECK(text.substr(0, 14) == "0\n-1\n12.5\n0.1\n");
  std::istringstream lines(text);
  std::string line;
  std::size_t count = 0, num_wrong = 0;
  while (std::getline(lines, line)) {
    REQUIRE(count < values.size());
    num_wrong += std::strtof(line.c_str(), nullptr) != values[count++];
  }
  CHECK(count == values.size());
  CHECK(num_wrong == 0);
  write_dat(directory / "act.dat", std::vector<float>{});
  CHECK(read_bytes_of(directory / "act.dat").empty());
}

TEST_CASE("an IGB file has a header of 1024 bytes and then the floats", "[igb]") {
  const TestDirectory directory;
  std::vector<float> values = ramp<float>(100000);
  values[1] = -1;
  write_igb(directory / "act.igb", values, "ms");
  CHECK(directory.count() == 1);
  const Bytes bytes = read_bytes_of(directory / "act.igb");
  REQUIRE(bytes.size() == 1024 + 4 * values.size());
  CHECK(bytes.substr(1024) == numbers(values));
  CHECK(bytes[1023] == '\f');
  std::map<std::string, std::string> header;
  std::istringstream words(bytes.substr(0, 1023));
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    REQUIRE(colon != std::string::npos);
    CHECK(header.emplace(word.substr(0, colon), word.substr(colon + 1)).second);
  }
  CHECK(header["x"] == "100000");
  CHECK(header["y"] == "1");
  CHECK(header["z"] == "1");
  CHECK(header["t"] == "1");
  CHECK(header["type"] == "float");
  CHECK(header["systeme"] == "little_endian");
  CHECK(header["unites"] == "ms");
}

TEST_CASE("values are not written where that cannot be done or makes no sense", "[igb]") {
  const TestDirectory directory;
  const std::vector<float> values{1, 2};
  CHECK_THROWS_AS(write_dat(directory / "no/such/act.dat", values), InputError);
  CHECK_THROWS_AS(write_igb(directory / "no/such/act.igb", values, "ms"), InputError);
  CHECK_THROWS_AS(write_igb(directory / "act.igb", std::vector<float>{}, "ms"),
                  std::invalid_argument);
  CHECK_THROWS_AS(write_igb(directory / "act.igb", values, "m s"), std::invalid_argument);
  CHECK(directory.count() == 0);
}
