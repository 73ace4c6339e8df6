// SPDX-License-Identifier: Apache-2.0
// Steps of decks that ask for natural frequencies: what is read of them, and what is refused.
#include <ossatura/core/io/mesh/hexa_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/hexa_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"

using namespace ossatura;
using namespace ossatura_test;

namespace {

HexaFile read_modal(const std::string& name, const Bytes& bytes) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  return read_hexa_file(directory / name);
}

/// The first sample with a step behind the others.
Bytes with_last_step(const std::string& head, const std::string& rows) {
  return sample_inp() + head + rows + "*END STEP\n";
}

template<class... Parts>
void check_refused_step(const std::string& rows, const Parts&... parts) {
  INFO(rows);
  CHECK_SAYS(error_of([&] { read_modal("a.inp", with_last_step("*STEP\n", rows)); }), "a.inp",
             parts...);
}

template<class... Parts>
void check_refused_archive(const std::string& commands, const Parts&... parts) {
  INFO(commands);
  CHECK_SAYS(
      error_of([&] { read_modal("a.cdb", replaced(sample_cdb(), "/GO", commands + "\n/GO")); }),
      "a.cdb", parts...);
}

} // namespace

TEST_CASE("a step of Abaqus asks for frequencies, and is no load case", "[hexa]") {
  CHECK_FALSE(read_modal("a.inp", sample_inp()).model.frequencies);
  const HexaFile plain = read_modal("a.inp", with_last_step("*STEP\n", "*FREQUENCY\n6\n"));
  REQUIRE(plain.model.frequencies);
  CHECK(plain.model.frequencies->count == 6);
  CHECK(plain.model.frequencies->below == 0);
  CHECK(plain.model.frequencies->step == "STEP 3");
  CHECK(plain.model.loads.size() == 2); // those of the steps before
  CHECK(plain.notes.empty());
  // With a range, and supports that are those of the steps before.
  const HexaFile ranged = read_modal(
      "a.inp",
      with_last_step("*STEP, NAME=Modes\n",
                     "*FREQUENCY, EIGENSOLVER=LANCZOS, NORMALIZATION=MASS\n 4, , 250.5, , 18\n"
                     "*BOUNDARY\nClamp, 1, 3\n*NODE FILE\nU\n"));
  CHECK(ranged.model.frequencies->count == 4);
  CHECK(ranged.model.frequencies->below == 250.5);
  CHECK(ranged.model.frequencies->step == "MODES");
  // Loads go on in steps behind it.
  const Bytes between = replaced(sample_inp(), "*STEP, NAME=Upwards\n",
                                 "*STEP\n*FREQUENCY\n2\n*END STEP\n*STEP, NAME=Upwards\n");
  const HexaModel model = read_modal("a.inp", between).model;
  CHECK(model.frequencies->count == 2);
  REQUIRE(model.loads.size() == 2);
  const HexaModel without = read_modal("a.inp", sample_inp()).model;
  CHECK(model.loads[1].forces.size() == without.loads[1].forces.size());
  // What CalculiX has of loads of steps before is said to be missing.
  const HexaFile stressed =
      read_modal("a.inp", with_last_step("*STEP, PERTURBATION\n", "*FREQUENCY\n1\n"));
  REQUIRE(stressed.notes.size() == 1);
  CHECK(stressed.notes[0].find("without the stiffening") != std::string::npos);
}

TEST_CASE("a deck of frequencies alone has no load case", "[hexa]") {
  const Bytes whole = sample_inp();
  const HexaModel model =
      read_modal("a.inp", whole.substr(0, whole.find("*STEP")) +
                              "*STEP, PERTURBATION\n*FREQUENCY\n3\n*BOUNDARY\n120, 1\n*END STEP\n")
          .model;
  CHECK(model.frequencies->count == 3);
  CHECK(model.loads.empty());
  CHECK(model.held.back().components == 1); // of node 120
}

TEST_CASE("steps of frequencies that are not understood are refused by line", "[hexa]") {
  check_refused_step("*FREQUENCY\n", "line 70", "number of natural frequencies");
  check_refused_step("*FREQUENCY\n0\n", "number of natural frequencies");
  check_refused_step("*FREQUENCY\n3, 100.\n", "line 71", "from 100 on", "leave the lower end");
  check_refused_step("*FREQUENCY\n3, , -1.\n", "highest frequency");
  check_refused_step("*FREQUENCY\n3, , , 50.\n", "shift of 50");
  check_refused_step("*FREQUENCY\n3\n4\n", "second row");
  check_refused_step("*FREQUENCY, CYCMPC=ACTIVE\n3\n", "CYCMPC");
  check_refused_step("*STATIC\n*FREQUENCY\n3\n", "another procedure");
  check_refused_step("*FREQUENCY\n3\n*STATIC\n", "another procedure");
  check_refused_step("*FREQUENCY\n3\n*END STEP\n*STEP\n*FREQUENCY\n3\n", "a second time");
  check_refused_step("*FREQUENCY\n3\n*CLOAD\n90, 2, 1.\n", "line 72", "*CLOAD", "no loads");
  check_refused_step("*FREQUENCY\n3\n*DLOAD\nRight, P4, 1.\n", "*DLOAD", "no loads");
  check_refused_step("*CLOAD\n90, 2, 1.\n*FREQUENCY\n3\n", "a step with loads");
  check_refused_step("*FREQUENCY\n3\n*BOUNDARY\n10, 1, 1, 0.1\n", "moves nodes");
  CHECK_SAYS(error_of([] { read_modal("a.inp", sample_inp() + "*FREQUENCY\n3\n"); }), "no step");
}

TEST_CASE("an archive of Ansys asks for modes", "[hexa]") {
  const HexaModel plain = read_modal("a.cdb", sample_cdb()).model;
  CHECK_FALSE(plain.frequencies);
  REQUIRE(plain.materials.size() == 1);
  CHECK(plain.materials[0].density == 7850);
  const std::string modal = "ANTYPE,MODAL,NEW\nMODOPT,LANB,5,0.,300.\nMXPAND,5";
  const HexaFile stored = read_modal("a.cdb", replaced(sample_cdb(), "/GO", modal + "\n/GO"));
  REQUIRE(stored.model.frequencies);
  CHECK(stored.model.frequencies->count == 5);
  CHECK(stored.model.frequencies->below == 300);
  CHECK(stored.model.loads.size() == 1); // of what the archive has
  // A static step, then one of modes.
  const HexaFile both =
      read_modal("a.cdb", replaced(sample_cdb(), "/GO",
                                   "PSTRES,ON\nSOLVE\nANTYPE,2\nMODOPT,LANB,3\nSOLVE\n/GO"));
  CHECK(both.model.frequencies->count == 3);
  CHECK(both.model.frequencies->step == "LOAD STEP 2");
  CHECK(both.model.loads.size() == 1);
  REQUIRE(both.notes.size() == 2); // of enhanced strains, too
  CHECK(both.notes[0].find("PSTRES") != std::string::npos);
  check_refused_archive("ANTYPE,MODAL", "without the number of modes", "MODOPT");
  check_refused_archive("ANTYPE,HARMIC", "HARMIC", "ANTYPE,MODAL are");
  check_refused_archive("MODOPT,DAMP,3", "DAMP", "LANB");
  check_refused_archive("MODOPT,LANB,3,50.", "from 50 on");
  check_refused_archive("MP,DENS,1,-1.", "negative");
  check_refused_archive("MP,DENS,1,7850.,1.", "depend on temperature");
}
