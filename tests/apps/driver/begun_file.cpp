// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/files/begun_file.hpp"
#include <ossatura/core/io/hdf5/file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <memory>
#include <stdexcept>

using namespace ossatura;
using namespace ossatura_test;

namespace {

const std::vector<double> corners{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};

std::unique_ptr<BegunFile> begin_tetra(const std::string& path) {
  return std::make_unique<BegunFile>(path, Hdf5Compression::fast, [](VtkHdfWriter& file) {
    file.set_mesh(corners, std::vector<int>{0, 1, 2, 3}, VtkCell::tetra);
  });
}

} // namespace

TEST_CASE("a file that was begun is finished by who takes it", "[files]") {
  const TestDirectory directory;
  {
    const auto begun = begin_tetra(directory / "a.hdf");
    VtkHdfWriter file = begun->take();
    CHECK_FALSE(std::filesystem::exists(directory / "a.hdf"));
    CHECK_THROWS_AS(begun->take(), std::invalid_argument);
    file.cell_data("tag", std::vector<int>{7});
    file.commit();
  }
  const Hdf5Group vtk = Hdf5File::open(directory / "a.hdf").root().group("VTKHDF");
  CHECK(vtk.dataset("Points").read<double>() == corners);
  CHECK(vtk.dataset("Connectivity").read<int>() == std::vector<int>{0, 1, 2, 3});
  CHECK(vtk.group("CellData").dataset("tag").read<int>() == std::vector<int>{7});
}

TEST_CASE("a file that nobody takes leaves nothing behind", "[files]") {
  const TestDirectory directory;
  begin_tetra(directory / "a.hdf").reset();
  CHECK(directory.count() == 0);
}

TEST_CASE("what keeps a file from being begun is thrown where it is taken", "[files]") {
  const TestDirectory directory;
  const auto lost = begin_tetra(directory / "none/a.hdf");
  CHECK_THROWS_AS(lost->take(), InputError);
  BegunFile failing(directory / "b.hdf", Hdf5Compression::fast, [](VtkHdfWriter& file) {
    file.set_mesh(corners, std::vector<int>{0, 1, 2, 3}, VtkCell::tetra);
    throw std::runtime_error("no memory");
  });
  CHECK_THROWS_AS(failing.take(), std::runtime_error);
  CHECK(directory.count() == 0);
}
