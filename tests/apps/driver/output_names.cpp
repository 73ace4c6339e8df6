// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/names.hpp"
#include "tests/catch.hpp"

using namespace ossatura;

TEST_CASE("results are named after all but the extension of the input", "[names]") {
  CHECK(file_stem("dir.1/tibia.h5") == "tibia");
  CHECK(file_stem("lever_v1.2.inp") == "lever_v1.2");
  CHECK(file_stem("collide0.5.json") == "collide0.5");
  CHECK(file_stem("P001.left.nii.gz") == "P001.left");
  CHECK(file_stem("P001.left.NII.GZ") == "P001.left");
  CHECK(file_stem("run.hdf.series") == "run");
  CHECK(file_stem("heart") == "heart");
  CHECK(file_stem("heart_v1.2") == "heart_v1.2"); // the base of openCARP files
  CHECK(file_stem(".hidden.mha") == ".hidden");
  CHECK(file_stem(".hidden") == ".hidden");
  CHECK(file_stem("cube") == "cube");
  CHECK(file_stem("a.gz") == "a");
  CHECK(file_stem("end.") == "end");
}
