// SPDX-License-Identifier: Apache-2.0
// Models of hexahedra from files: what is read of files written by hand, and what is refused.
#include <ossatura/core/io/mesh/hexa_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/hexa_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/text/number_map.hpp>
#include <ossatura/core/machine/memory.hpp>

#include <cmath>

using namespace ossatura;
using namespace ossatura_test;

namespace {

using Members = std::vector<std::int32_t>;
using Sets = std::map<std::string, Members>;

HexaFile read_model(const std::string& name, const Bytes& bytes, double unit = 1) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  ElementFileOptions options;
  options.unit = unit;
  return read_hexa_file(directory / name, options);
}

std::string refusal_of_model(const std::string& name, const Bytes& bytes) {
  return error_of([&] { read_model(name, bytes); });
}

/// The sample with `from` replaced is refused with a message that has all parts.
template<class... Parts>
void check_refusal(const Bytes& sample, const std::string& from, const std::string& to,
                   const Parts&... parts) {
  const std::string name = sample[0] == '*' ? "a.inp" : sample[0] == '/' ? "a.cdb" : "a.msh";
  INFO(from << " -> " << to);
  CHECK_SAYS(refusal_of_model(name, replaced(sample, from, to)), name, parts...);
}

void check_two_hexa(const HexaFile& file, std::int64_t num_unused) {
  CHECK(file.model.mesh.shape == ElementShape::hexa);
  CHECK(file.model.mesh.point == TwoHexa().point);
  CHECK(file.model.mesh.node == TwoHexa().hexa);
  CHECK(file.unused_points == num_unused);
}

struct Force {
  std::int32_t node;
  double x, y, z;
};

void check_loads(const NodeLoads& loads, const std::string& name,
                 const std::vector<Force>& expected) {
  INFO(name);
  CHECK(loads.name == name);
  REQUIRE(loads.forces.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(loads.forces[i].node == expected[i].node);
    const double force[3] = {expected[i].x, expected[i].y, expected[i].z};
    for (int axis = 0; axis < 3; ++axis)
      CHECK(std::abs(loads.forces[i].force[axis] - force[axis]) < 1e-14);
  }
}

void check_held(const HexaModel& model, const std::vector<std::pair<int, int>>& expected) {
  std::vector<std::pair<int, int>> held;
  for (const HeldComponents& node : model.held)
    held.emplace_back(node.node, node.components);
  CHECK(held == expected);
}

const std::vector<std::pair<int, int>> clamp{{0, 7}, {3, 7}, {6, 7}, {9, 7}};

} // namespace

TEST_CASE("numbers of a file are found again, however far apart", "[hexa]") {
  NumberMap map;
  for (const std::uint64_t number : {7ull, 0ull, 70000ull, 1ull << 63, 65535ull, 18000000000ull})
    CHECK(map.add(number));
  CHECK_FALSE(map.add(7));
  CHECK_FALSE(map.add(1ull << 63));
  CHECK(map.find(70000) == 2);
  CHECK(map.find(1ull << 63) == 3);
  CHECK(map.find(65535) == 4);
  CHECK(map.find(8) == -1);
  CHECK(map.find(123456789012) == -1);
  bool all_new = true; // from far above the count to below its multiple
  for (std::uint64_t number = 100000; number < 120000; ++number)
    all_new = all_new && map.add(number);
  CHECK(all_new);
  CHECK(map.find(70000) == 2);
  CHECK(map.find(119999) == 20005);
  CHECK(map.number(20005) == 119999);
}

TEST_CASE("a CalculiX model is read with sets, supports, loads and material", "[hexa]") {
  const HexaFile file = read_model("a.inp", sample_inp());
  check_two_hexa(file, 1);
  const HexaModel& model = file.model;
  const Members all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  CHECK(model.node_sets == Sets{{"NALL", all},
                                {"CLAMP", {0, 3, 6, 9}},
                                {"LINE", {2, 5, 8, 11}},
                                {"BOTH", {0, 2, 3, 5, 6, 8, 9, 11}},
                                {"WALL", {0, 3, 6, 9}}}); // of the quadrangle
  CHECK(model.elem_sets == Sets{{"BODY", {0, 1}}, {"ALL", {0, 1}}, {"RIGHT", {1}}});
  check_held(model, {{0, 7}, {2, 2}, {3, 7}, {5, 4}, {6, 7}, {9, 7}});
  CHECK(model.young == 210000);
  CHECK(model.poisson == 0.3);
  CHECK(file.notes.empty());
  REQUIRE(model.loads.size() == 2);
  check_loads(model.loads[0], "STEP 1",
              {{2, -2, 0, -0.5}, {5, -2, 0, -0.5}, {8, -2, 6, -0.5}, {11, -2, 0, -0.5}});
  // The force on node 90 is replaced, all else stays, the pressure on top is new.
  check_loads(model.loads[1], "UPWARDS",
              {{2, -2, 0, -0.5},
               {5, -2, 0, -0.5},
               {6, 0, 0, -0.5},
               {7, 0, 0, -1},
               {8, -2, -3, -1},
               {9, 0, 0, -0.5},
               {10, 0, 0, -1},
               {11, -2, 0, -1}});
}

TEST_CASE("lengths in m scale coordinates and the modulus, not forces", "[hexa]") {
  const HexaFile file = read_model("a.inp", sample_inp(), 0.001);
  CHECK(file.model.mesh.point[6] == 0.002);
  CHECK(file.model.young == Approx(2.1e11)); // N/mm^2
  CHECK(file.model.loads[0].forces[0].force[0] == Approx(-2));
}

TEST_CASE("steps of Abaqus keep loads unless they are perturbations or new", "[hexa]") {
  const std::string step = "*STEP, NAME=Upwards\n";
  const HexaModel perturbed =
      read_model("a.inp", replaced(sample_inp(), step, "*STEP, PERTURBATION\n")).model;
  CHECK(perturbed.loads[1].name == "STEP 2");
  CHECK(perturbed.loads[1].forces.size() == 6);
  const HexaModel fresh =
      read_model("a.inp",
                 replaced(replaced(sample_inp(), "*CLOAD\n90, 2, -3", "*CLOAD, OP=NEW\n90, 2, -3"),
                          "*DSLOAD", "*DSLOAD, OP=NEW"))
          .model;
  CHECK(fresh.loads[1].forces.size() == 6);
  CHECK(fresh.loads[1].forces[2].force[1] == -3);
  // As PrePoMax writes it, each step names its supports anew.
  const std::string anew = "*STATIC\n*CLOAD\n90, 2, -3", again = "*BOUNDARY, OP=NEW\n";
  const Bytes supported =
      replaced(sample_inp(), anew, again + "Clamp, PINNED\n60, 3\n" + again + "30, 2, 2\n" + anew);
  check_held(read_model("a.inp", supported).model,
             {{0, 7}, {2, 2}, {3, 7}, {5, 4}, {6, 7}, {9, 7}});
  CHECK_SAYS(refusal_of_model("a.inp", replaced(supported, "30, 2, 2\n", "30, 1, 2\n")), "line 73",
             "step 2", "before the steps");
  CHECK_SAYS(
      refusal_of_model("a.inp", replaced(sample_inp(), "*STEP, N", "*BOUNDARY\n60, 1\n*STEP, N")),
      "line 62", "between steps");
  const HexaModel no_steps =
      read_model("a.inp", "*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n"
                          "8,0,1,1\n*ELEMENT,TYPE=C3D8\n1,1,2,3,4,5,6,7,8\n*CLOAD\n7,1,2.\n")
          .model;
  REQUIRE(no_steps.loads.size() == 1);
  check_loads(no_steps.loads[0], "", {{6, 2, 0, 0}});
  CHECK(no_steps.young == 0);
}

void check_displacements(const NodeLoads& loads, const std::vector<NodeDisplacement>& expected) {
  INFO(loads.name);
  REQUIRE(loads.displacements.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(loads.displacements[i].node == expected[i].node);
    CHECK(loads.displacements[i].component == expected[i].component);
    CHECK(loads.displacements[i].value == Approx(expected[i].value));
  }
}

TEST_CASE("each section of Abaqus has its material, and steps move and warm nodes", "[hexa]") {
  const HexaModel model = read_model("a.inp", sample_moved_inp(), 0.001).model;
  REQUIRE(model.materials.size() == 2);
  CHECK(model.materials[0].name == "ALLOY");
  CHECK(model.materials[0].young == Approx(7e10));
  CHECK(model.materials[0].density == Approx(2700)); // t/mm^3
  CHECK(model.materials[1].young == Approx(2.1e11));
  CHECK(model.material == std::vector<std::uint8_t>{1, 0});
  CHECK(model.young == model.materials[0].young);
  CHECK_FALSE(model.is_uniform());
  check_held(model, {{0, 7}, {2, 1}, {3, 7}, {5, 1}, {6, 7}, {8, 1}, {9, 7}, {11, 5}});
  REQUIRE(model.loads.size() == 3);
  check_displacements(
      model.loads[0],
      {{2, 0, 0.25e-3}, {5, 0, 0.25e-3}, {8, 0, 0.25e-3}, {11, 0, 0.25e-3}, {11, 2, -0.5e-3}});
  CHECK(model.loads[0].forces.empty());
  // Node 120 is back along x; all else stays.
  check_displacements(model.loads[1],
                      {{2, 0, 0.25e-3}, {5, 0, 0.25e-3}, {8, 0, 0.25e-3}, {11, 2, -0.5e-3}});
  CHECK(model.loads[1].forces.size() == 1);
  check_displacements(model.loads[2], {}); // what is not said in a perturbation is held
  REQUIRE(model.loads[1].body.size() == 2);
  const BodyLoad gravity = model.loads[1].body[0], rotation = model.loads[1].body[1];
  CHECK(gravity.acceleration[2] == Approx(-9.81));
  CHECK(gravity.square_speed == 0);
  CHECK(rotation.square_speed == 4);
  CHECK(rotation.origin[2] == Approx(0.003));
  CHECK(rotation.axis[1] == Approx(0.6));
  CHECK(model.loads[2].body.empty());
  CHECK(model.materials[0].expansion == 2.3e-5);
  CHECK(model.materials[1].expansion == 0);
  CHECK(model.loads[0].warming.empty());
  CHECK(model.loads[1].warming ==
        std::vector<double>{0, 0, 25, 0, 0, 25, 0, 0, 25, 0, 0, -12}); // without node 99
  CHECK(model.loads[2].warming.empty());

  const HexaModel same =
      read_model("a.inp", replaced(sample_moved_inp(), "70000.", "210000.")).model;
  CHECK(same.is_uniform());
  CHECK(same.material.size() == 2);

  const Bytes moved = sample_moved_inp();
  check_refusal(moved, "Line, 1, 1, 0.25", "Line, 1, 1, 0.25\n30, 1, 1, 0.3", "node 30",
                "by 0.25 and by 0.3", "along 1");
  check_refusal(moved, "120, 3, , -0.5", "99, 3, , -0.5", "node 99", "no element has");
  check_refusal(moved, "*BOUNDARY\n120, 1, 1, 0.", "*BOUNDARY, OP=NEW\nClamp, 1, 3",
                "supports of step 2", "not those of the first");
  check_refusal(moved, "ELSET=Left, MATERIAL", "ELSET=All, MATERIAL", "line 52", "element 8",
                "material ALLOY already");
  check_refusal(moved, "*SOLID SECTION, ELSET=Left, MATERIAL=Steel\n", "", "element 7",
                "no *SOLID SECTION");
  check_refusal(moved, "2.7e-9", "-2.7e-9", "density", "not positive");
  check_refusal(moved, "2.7e-9", "2.7e-9, 20.\n2.6e-9, 90.", "density", "temperature");
  check_refusal(moved, "2.3e-5", "2.3e-5, 0., 9.", "line 48", "same in all directions");
  check_refusal(moved, "2.3e-5", "2.3e-5\n2.5e-5, 90.", "line 49", "depends on temperature");
  check_refusal(moved, "ZERO=20.", "TYPE=ORTHO", "line 47", "type ORTHO");
  check_refusal(moved, "Nall, 20.", "Clamp, 20.", "node 30 has a temperature, but none at first");
  check_refusal(moved, "Nall, 20.", "Nall, inf", "line 56", "temperature is expected");
  check_refusal(moved, "TYPE=TEMPERATURE", "TYPE=VELOCITY", "line 55", "VELOCITY are not solved");
  check_refusal(moved, "120, 8.", "130, 8.", "no node 130");
  check_refusal(moved, "120, 8.", "120, 8., 1.", "a gradient of 1 is of shells");
  check_refusal(moved, "*TEMPERATURE\n", "*TEMPERATURE, USER\n", "temperatures by USER");
  check_refusal(moved, "*CLOAD\n50, 2, 1.", "*TEMPERATURE\n50, 1.", "PERTURBATION are not solved");
  const Bytes no_sections =
      replaced(replaced(moved, "*SOLID SECTION, ELSET=Left, MATERIAL=Steel\n", ""),
               "*SOLID SECTION, ELSET=Right, MATERIAL=Alloy\n", "");
  CHECK_SAYS(refusal_of_model("a.inp", no_sections), "differs from",
             "no *SOLID SECTION says which");
}

/// Sums of forces of a load case, and of their moments about a point.
std::array<double, 6> resultant(const HexaModel& model, const NodeLoads& loads,
                                const std::array<double, 3>& about) {
  std::array<double, 6> sum{};
  for (const NodeForce& one : loads.forces) {
    double arm[3];
    for (std::size_t c = 0; c < 3; ++c) {
      arm[c] = model.mesh.point[3 * std::size_t(one.node) + c] - about[c];
      sum[c] += one.force[c];
    }
    for (std::size_t c = 0; c < 3; ++c)
      sum[3 + c] +=
          arm[(c + 1) % 3] * one.force[(c + 2) % 3] - arm[(c + 2) % 3] * one.force[(c + 1) % 3];
  }
  return sum;
}

TEST_CASE("couplings of Abaqus load the nodes of a surface, and rigid ends move theirs", "[hexa]") {
  const Bytes coupled = sample_coupled_inp();
  const HexaFile file = read_model("a.inp", coupled);
  check_two_hexa(file, 5);
  const HexaModel& model = file.model;
  check_held(model, clamp);
  REQUIRE(model.loads.size() == 2);
  check_displacements(model.loads[0], {{0, 0, -0.01}, {3, 0, -0.01}, {6, 0, -0.01}, {9, 0, -0.01}});
  check_displacements(model.loads[1], {{0, 0, -0.01}, {3, 0, -0.01}, {6, 0, -0.01}, {9, 0, -0.01}});
  const std::array<double, 6> first = resultant(model, model.loads[0], {4, 0.5, 0.5}),
                              second = resultant(model, model.loads[1], {4, 0.5, 0.5});
  // 4 N along z at (2, 0, 0) is (-0.5) * 4 about x and 2 * 4 about y.
  const std::array<double, 6> expected{8, 0, 4, -2, 8, 2};
  for (std::size_t c = 0; c < 6; ++c) {
    CHECK(first[c] == Approx(expected[c]).margin(1e-12));
    CHECK(second[c] == Approx(c == 5 ? 0 : expected[c]).margin(1e-12));
  }
  // On the face by area: a quarter of the force along x each; the line of nodes is on that face.
  CHECK(model.loads[1].forces.size() == 4);
  for (const NodeForce& one : model.loads[1].forces)
    CHECK(one.force[0] == Approx(2));

  check_refusal(coupled, "*CLOAD\nRef, 1, 8.", "*CLOAD\n503, 4, 8.", "degree of freedom 4",
                "distributing couplings");
  check_refusal(coupled, "*CLOAD\nRef, 1, 8.", "*CLOAD\n501, 1, 8.", "node 501",
                "*COUPLING with *DISTRIBUTING");
  check_refusal(coupled, "502, 1, 3\n", "502, 1, 2\n", "node 501 is free to turn", "*DISTRIBUTING");
  check_refusal(coupled, "501, 2, 3\n", "501, 2, 2\n", "node 501 is free to move", "*DISTRIBUTING");
  check_refusal(coupled, "502, 1, 3\n", "502, 1, 3, 0.1\n", "a rotation of 0.1");
  check_refusal(coupled, "501, 1, 1, -0.01", "502, 1, 1, -0.01", "a rotation of -0.01");
  check_refusal(coupled, "501, 1, 1, -0.01", "Ref, 1, 1, -0.01", "node 500", "mean displacement");
  check_refusal(coupled, "SURFACE=End", "SURFACE=Ende", "no surface ENDE");
  check_refusal(coupled, "REF NODE=503", "REF NODE=Clamp", "4 nodes where one reference node");
  check_refusal(coupled, "REF NODE=503", "REF NODE=504", "no node 504");
  check_refusal(coupled, "REF NODE=503", "REF NODE=500", "node 500", "two couplings");
  check_refusal(coupled, "REF NODE=503", "REF NODE=60", "node 60", "of an element, too");
  check_refusal(coupled, "*DISTRIBUTING\n1, 6\n", "", "neither *KINEMATIC nor *DISTRIBUTING");
  check_refusal(coupled, "*DISTRIBUTING\n1, 6\n", "*DISTRIBUTING\n1, 2\n", "couple all");
  // Free rigid bodies take loads by their resultants.
  CHECK(model.rigid.empty());
  const HexaFile free =
      read_model("a.inp", replaced(coupled, "*DISTRIBUTING\n1, 6\n", "*KINEMATIC\n"));
  REQUIRE(free.model.rigid.size() == 1);
  CHECK(free.model.rigid[0].size() == 4);
  const std::array<double, 6> on_body = resultant(free.model, free.model.loads[0], {4, 0.5, 0.5});
  for (std::size_t c = 0; c < 6; ++c)
    CHECK(on_body[c] == Approx(expected[c]).margin(1e-12));
  check_refusal(coupled, "*DISTRIBUTING\n1, 6", "*DISTRIBUTING, WEIGHTING METHOD=QUADRATIC\n1, 6",
                "QUADRATIC", "UNIFORM");
  const Bytes two =
      replaced(replaced(coupled, "60, 1.\nLine\n", "60, 1.\n"), "503, 3, 4.", "503, 1, 4.");
  CHECK(read_model("a.inp", two).model.loads.size() == 2);
  check_refusal(two, "503, 2., 0., 0.", "503, 2., 0., 3.", "the coupling at node 503", "on a line");
  const Bytes late = replaced(coupled, "*RIGID BODY, NSET=Clamp, REF NODE=501, ROT NODE=502\n", "");
  check_refusal(late, "*STEP\n*STATIC\n*BOUNDARY",
                "*RIGID BODY, NSET=Clamp, REF NODE=501, ROT NODE=502\n*STEP\n*STATIC\n*BOUNDARY",
                "write it before them");
  // In one word for all rotations and displacements.
  const Bytes word = replaced(replaced(coupled, ", ROT NODE=502", ""), "502, 1, 3\n501, 2, 3\n",
                              "501, ENCASTRE\n");
  check_held(read_model("a.inp", replaced(word, "501, 1, 1, -0.01", "501, 1, 1, 0.")).model, clamp);
}

// [slow]: the address sanitizer keeps what was given back.
TEST_CASE("small Abaqus files that name large sets again and again stay small", "[hexa][slow]") {
  // 400 lines of 27 000 nodes or 24 000 elements each: 150 MB where every member is kept.
  constexpr int n = 156; // of a layer of elements, for faces within a body take no pressure
  Bytes inp = "*NODE\n";
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        inp += std::to_string(1 + i + n * (j + n * k)) + "," + std::to_string(i) + "," +
               std::to_string(j) + "," + std::to_string(k) + "\n";
  inp += "*ELEMENT, TYPE=C3D8, ELSET=ALL\n";
  int elem = 0;
  for (int j = 0; j + 1 < n; ++j)
    for (int i = 0; i + 1 < n; ++i) {
      inp += std::to_string(++elem);
      for (const int corner : {0, 1, n + 1, n, n * n, n * n + 1, n * n + n + 1, n * n + n})
        inp += "," + std::to_string(1 + corner + i + n * j);
      inp += "\n";
    }
  inp += "*NSET, NSET=N, GENERATE\n";
  for (int line = 0; line < 400; ++line)
    inp += "1,27000,1\n";
  inp += "*STEP\n*STATIC\n*DLOAD\n";
  for (int line = 0; line < 400; ++line)
    inp += "ALL,P1,0.25\n";
  inp += "*END STEP\n";
  const std::int64_t before = peak_host_bytes();
  const HexaFile file = read_model("a.inp", inp);
  CHECK(peak_host_bytes() - before < 60000000);
  CHECK(file.model.node_sets.at("N").size() == 27000);
  REQUIRE(file.model.loads.size() == 1);
  const double force = 400 * 0.25 * (n - 1) * (n - 1); // P1 is the bottom of each element
  double sum = 0;
  for (const NodeForce& f : file.model.loads[0].forces)
    sum += f.force[2];
  CHECK(std::abs(sum - force) < 1e-9 * force);
}

TEST_CASE("a part and its instance as Abaqus/CAE writes them are read", "[hexa]") {
  const HexaFile file = read_model("a.inp", sample_cae_inp());
  check_two_hexa(file, 0);
  CHECK(file.model.node_sets.at("SET-1") == Members{0, 3, 6, 9});
  CHECK(file.model.node_sets.at("PART-1-1.SET-1").size() == 12);
  CHECK(file.model.elem_sets == Sets{{"SET-1", {0, 1}}, {"_SURF-1_S4", {1}}});
  check_held(file.model, clamp);
  check_loads(file.model.loads.at(0), "STEP-1",
              {{2, -1, 0, 0}, {5, -1, 0, 0}, {8, -1, 0, 0}, {11, -1, 0, 0}});
  CHECK(file.model.young == 70);
  REQUIRE(file.notes.size() == 1);
  CHECK_SAYS(file.notes[0], "C3D8R", "solved as C3D8");
}

TEST_CASE("an Ansys archive is read with components, supports, loads and material", "[hexa]") {
  const HexaFile file = read_model("a.cdb", sample_cdb());
  check_two_hexa(file, 1);
  CHECK(file.model.node_sets ==
        Sets{{"CLAMP", {0, 3, 6, 9}}, {"LOW", {0, 1, 2, 3, 4, 5, 6, 7, 8}}});
  CHECK(file.model.elem_sets == Sets{{"BODY", {0, 1}}});
  check_held(file.model, {{0, 7}, {3, 7}, {5, 4}, {6, 7}, {9, 7}});
  CHECK(file.model.young == 210000);
  CHECK(file.model.poisson == 0.3);
  REQUIRE(file.notes.size() == 1);
  CHECK_SAYS(file.notes[0], "SOLID185", "enhanced strains", "full integration");
  REQUIRE(file.model.loads.size() == 1);
  check_loads(file.model.loads[0], "",
              {{7, 0, 0, -2}, {8, 0, 5, -2}, {10, 0, 0, -2}, {11, 0, 0, -2}});
}

TEST_CASE("load steps of Ansys carry loads on until they change", "[hexa]") {
  const HexaModel model =
      read_model("a.cdb", replaced(sample_cdb(), "/GO\n",
                                   "LSWRITE,1\nF,9,FY,-1\nSFEDELE,ALL,ALL,ALL\nLSWRITE,2\n"
                                   "FDELE,ALL,ALL\nF,LOW,FX,2\nF,1012,FZ,1\nSOLVE\n"))
          .model;
  REQUIRE(model.loads.size() == 3);
  CHECK(model.loads[0].forces.size() == 4);
  check_loads(model.loads[1], "LOAD STEP 2", {{8, 0, -1, 0}});
  CHECK(model.loads[2].forces.size() == 10);
  CHECK(model.loads[2].forces[9].force[2] == 1);
}

TEST_CASE("physical groups of Gmsh become sets in both formats", "[hexa]") {
  for (const Bytes& bytes : {sample_gmsh_2_groups(), sample_gmsh_4_groups()}) {
    const HexaFile file = read_model("a.msh", bytes);
    check_two_hexa(file, 1);
    CHECK(file.model.node_sets ==
          Sets{{"tip", {8}}, {"the wall", {0, 3, 6, 9}}, {"17", {2, 5, 11}}});
    CHECK(file.model.elem_sets == Sets{{"solid", {0, 1}}, {"right", {1}}});
  }
  check_two_hexa(read_model("a.msh", sample_gmsh_2_hexa()), 1);
}

TEST_CASE("physical groups of one number and no name are told apart", "[hexa]") {
  const Bytes point = replaced(sample_gmsh_2_groups(), "1 15 2 1 1 9", "1 15 2 17 1 9");
  CHECK(read_model("a.msh", point).model.node_sets ==
        Sets{{"the wall", {0, 3, 6, 9}}, {"point 17", {8}}, {"curve 17", {2, 5, 11}}});
  const Bytes volume = replaced(sample_gmsh_2_groups(), "5 5 2 4 1", "5 5 2 17 1");
  const HexaFile file = read_model("a.msh", volume); // of elements, which are no node set
  CHECK(file.model.node_sets.count("17") == 1);
  CHECK(file.model.elem_sets == Sets{{"solid", {0, 1}}, {"17", {1}}});
}

TEST_CASE("meshes of VTK are read without sets", "[hexa]") {
  check_two_hexa(read_model("a.vtk", sample_vtk_hexa()), 1);
  check_two_hexa(read_model("a.vtu", sample_vtu_hexa({})), 0);
  CHECK_SAYS(refusal_of_model("a.vtk", sample_vtk()), "a.vtk", "tetra", "hexahedra");
}

TEST_CASE("a mirrored hexahedron is turned, and pressure on it stays inward", "[hexa]") {
  const Bytes mirrored = replaced(sample_inp(), "8, 20, 30, 60, 50, 80, 90,\n120, 110",
                                  "8, 80, 90, 120, 110, 20, 30,\n60, 50");
  const HexaFile file = read_model("a.inp", replaced(mirrored, "All, S2", "Right, S1"));
  check_two_hexa(file, 1);
  // Still face 4, and the top is face 1 now.
  check_loads(file.model.loads[1], "UPWARDS",
              {{2, -2, 0, -0.5},
               {5, -2, 0, -0.5},
               {7, 0, 0, -0.5},
               {8, -2, -3, -1},
               {10, 0, 0, -0.5},
               {11, -2, 0, -1}});
}

TEST_CASE("pressure on a skew face is that of its area, with the moment of its shape", "[hexa]") {
  // The face x = 2 becomes a trapezium: z = 3 at y = 1. By hand, shape functions integrated with
  // dA = (1 + 2 y) dy dt: nodes at y = 0 have 1/2 (1/2 + 1/3), those at y = 1 1/2 (1/2 + 2/3).
  const HexaFile file =
      read_model("a.inp", replaced(sample_inp(), "120, 2., 1., 1.", "120, 2., 1., 3."));
  const NodeLoads& loads = file.model.loads[0];
  for (const NodeForce& f : loads.forces)
    CHECK(f.force[0] == Approx(-8 * (f.node == 2 || f.node == 8 ? 5.0 / 12 : 7.0 / 12)));
}

TEST_CASE("bad Abaqus models are refused by line and number", "[hexa]") {
  const Bytes inp = sample_inp();
  check_refusal(inp, "210000., 0.3", "210000, 0,3", "line 39", "ratio of 0", "with a point");
  check_refusal(inp, "7.8e-9", "7,8e-9", "density of 7 at", "with a point");
  check_refusal(inp, "*SOLID SECTION", "*MATERIAL, NAME=STEEL\n*SOLID SECTION", "material STEEL",
                "twice");
  check_refusal(inp, "*DENSITY", "*PLASTIC", "line 40", "*PLASTIC", "remove");
  check_refusal(inp, "*Heading", "*INCLUDE, INPUT=b.inp", "line 1", "*INCLUDE", "put its lines");
  check_refusal(inp, "TYPE=C3D8,", "TYPE=C3D27,", "line 18", "C3D27", "C3D8");
  check_refusal(inp, "TYPE=C3D8,", "TYPE=C3D4,", "line 19", "element 7", "C3D4",
                "more than 4 nodes");
  check_refusal(inp, "*NODE,", "*NODE, SYSTEM=C,", "line 4", "system C");
  check_refusal(inp, "20, 1., 0., 0.", "20, 1., x, 0.", "line 7", "'x'", "coordinate");
  check_refusal(inp, "20, 1., 0., 0.", "20, nan, 0., 0.", "line 7", "coordinate");
  check_refusal(inp, "20, 1., 0., 0.", "10, 1., 0., 0.", "line 7", "node 10", "twice");
  check_refusal(inp, "\n8, 20", "\n7, 20", "line 20", "element 7", "twice");
  check_refusal(inp, "\n1, 10", "\n7, 10", "line 23", "element 7", "twice");
  check_refusal(inp, "110, 100\n8", "110, 101\n8", "line 19", "element 7", "node 101");
  check_refusal(inp, "110, 100\n8", "110\n8", "line 20", "element 7", "node 8");
  check_refusal(inp, "110, 100\n8", "110, 70\n8", "element 7", "node 70 twice");
  check_refusal(inp, "10, 20, 50, 40, 70", "10, 20, 40, 50, 70", "element 7", "inside out");
  check_refusal(inp, "20, 30, 60, 50, 80, 90,\n120, 110", "20, 50, 40, 10, 80, 110,\n100, 70",
                "element 8 has the same nodes as element 7", "remove one");
  check_refusal(inp, "Clamp, line", "Clamp, lime", "line 30", "no node set LIME");
  check_refusal(inp, "30, 120, 30", "30, 120, 45", "line 28", "no node 75");
  check_refusal(inp, "30, 120, 30", "30, 120, 0", "line 28", "by 0");
  check_refusal(inp, "Right\n8,", "Right\n9,", "line 34", "no element 9");
  check_refusal(inp, "All, S2", "All, S7", "line 36", "'S7'", "S1 to S6");
  check_refusal(inp, "Clamp, 1, 3", "Clamp, 1, 8", "line 45", "1 to 8");
  check_refusal(inp, "60, 3, 3, 0.", "60, 3, 3, 0.1", "line 49", "node 60 is to move by 0.1",
                "before the first step");
  check_refusal(inp, "60, 3, 3, 0.", "60, 3, 3, nan", "line 46", "displacement is expected");
  check_refusal(inp, "60, 3, 3, 0.", "60, 3, 4, 0.1", "line 46", "rotation of 0.1");
  check_refusal(inp, "YSYMM", "SYMM", "line 48", "'SYMM'", "ENCASTRE");
  check_refusal(inp, "*BOUNDARY\n", "*BOUNDARY, AMPLITUDE=A\n", "line 44", "AMPLITUDE");
  check_refusal(inp, "*STEP\n", "*STEP, NLGEOM\n", "line 49", "NLGEOM");
  check_refusal(inp, "*STATIC", "*BUCKLE", "line 50", "*BUCKLE");
  check_refusal(inp, "Line, 3, -0.5", "Line, 4, -0.5", "line 53", "degree of freedom 4");
  check_refusal(inp, "Line, 3, -0.5", "99, 3, -0.5", "node 99", "no element has");
  check_refusal(inp, "Right, P4, 8.", "Right, BX, 9.81", "line 56", "'BX'", "P1 to P6",
                "GRAV or CENTRIF");
  check_refusal(inp, "Right, P4, 8.", ", P4, 8.", "line 56", "on no elements");
  check_refusal(inp, "Right, P4, 8.", "Right, GRAV, 9.81, 1.", "line 56", "direction");
  check_refusal(inp, "Right, P4, 8.", "Right, GRAV, 9.81, 1., 0., 0.", "gravity acts on 1 of 2");
  check_refusal(inp, "Top, P, 2.", "Top, TRVEC, 2.", "TRVEC");
  check_refusal(inp, "*DSLOAD\n", "*BOUNDARY\n30, 1, 1\n*DSLOAD\n", "line 70", "step 2",
                "supports");
  check_refusal(inp, "210000., 0.3", "210000., 0.5", "line 39", "0.5", "Poisson");
  check_refusal(inp, "210000., 0.3", "1., 0.3\n2., 0.3, 20.", "temperature");
  check_refusal(inp, "ELASTIC", "ELASTIC, TYPE=ORTHO", "ORTHO", "isotropic");
  check_refusal(inp, "ELSET=All,\n", "ELSET=Right,\n", "element 7", "SOLID SECTION");
  check_refusal(inp, "ELSET=All,\n", "ELSET=Wall,\n", "line 42", "without volume");
  check_refusal(inp, "MATERIAL=Steel\n", "MATERIAL=Wood\n", "WOOD", "not there");
  check_refusal(inp, "*END STEP\n*STEP", "*STEP", "*END STEP is missing");
  CHECK_SAYS(refusal_of_model("a.inp", inp.substr(0, inp.size() - 10)), "truncated");
  CHECK_SAYS(refusal_of_model("a.inp", inp + "*CLOAD\n90, 1, 1.\n"), "between steps");
  CHECK_SAYS(refusal_of_model("a.inp", inp.substr(0, inp.find("*ELEMENT"))),
             "no elements with volume");
  const Bytes cae = sample_cae_inp();
  check_refusal(cae, "*End Part\n", "*End Part\n*Part, name=B\n", "second part");
  check_refusal(cae, "part=Part-1\n", "part=Part-1\n1., 0., 0.\n", "line 30", "moved");
}

TEST_CASE("bad Ansys archives are refused by line and number", "[hexa]") {
  const Bytes cdb = sample_cdb();
  check_refusal(cdb, "EXTOPT,ACLEAR,      0", "CE,1,0,4,UX,1", "line 49", "CE", "remove");
  check_refusal(cdb, "DOF,DELETE", "/INPUT,other,inp", "line 9", "/INPUT");
  check_refusal(cdb, "1,185", "1,SOLID186", "line 33", "element 7", "186", "SOLID185");
  check_refusal(cdb, "1,185", "2,185", "line 33", "no ET");
  check_refusal(cdb, "   8   0   8   2", "   8   0   7   2", "line 34", "element 7", "twice");
  check_refusal(cdb, "   8   0   8   2", "   6   0   8   2", "line 34", "6 nodes");
  check_refusal(cdb, "   8   0   8   2", "   8   0   8  99", "line 34", "node 99");
  check_refusal(cdb, "   2   0   0", "   1   0   0", "line 18", "node 1", "twice");
  check_refusal(cdb, "2.0000000000000E+000\n", "2.00000000000!!E+000\n", "column of 21");
  check_refusal(cdb, "810111010", "810101010", "element 7", "node 1010 twice", "prisms");
  check_refusal(cdb, "  -1\nCMBLOCK", "CMBLOCK", "line 34", "does not end with -1");
  check_refusal(cdb, "N,R5.3,LOC,       -1,\n", "", "block of nodes does not end");
  check_refusal(cdb, "         1        -9", "         1     -1001", "line 41", "LOW", "node 10");
  check_refusal(cdb, "CMBLOCK,LOW,NODE,       2", "CMBLOCK,LOW,NODE,       3", "2 entries of 3");
  check_refusal(cdb, "CMSEL,S,CLAMP", "CMSEL,S,CLAP", "CLAP");
  check_refusal(cdb, "D,ALL,ALL", "D,ALL,ALL,0.5", "line 54", "displacement of 0.5");
  check_refusal(cdb, "D,      6,UZ", "D,      6,TEMP", "TEMP");
  check_refusal(cdb, "D,      6,UZ", "D,    600,UZ", "line 56", "no node 600");
  check_refusal(cdb, "9,FY", "9,MY", "load MY");
  check_refusal(cdb, "9,FY", "1013,FY", "node 1013", "no element has");
  check_refusal(cdb, "8.00000000      8.0", "8.00000000      7.0", "varies", "8 to 7");
  check_refusal(cdb, "SFE,       8,   6,PRES, 1,", "SFE,       8,   6,CONV, 1,", "CONV");
  check_refusal(cdb, "ACEL,  0.0", "ACEL,  9.8", "line 52", "ACEL of 9.8");
  check_refusal(cdb, "EX  ,       1, 1,  210000.000", "EX  ,       1, 1,  210000.000, 2.",
                "depend on temperature");
  check_refusal(cdb, "MPDATA,R5.0, 1,NUXY", "MPDATA,R5.0, 1,GXY", "GXY", "direction");
  check_refusal(cdb, "EX  ,       1, 1", "EX  ,       2, 1", "material 1", "no modulus");
  check_refusal(cdb, "/GO", "SOLVE\nF,9,FX,1", "no load step");
  check_refusal(cdb, "/GO", "SOLVE\nD,9,UX", "adds supports");
  check_refusal(cdb, "/GO", "ANTYPE,TRANS", "TRANS");
  check_refusal(cdb, "/GO", "1014, 7.0", "line 63", "belongs to no command", "remove the row");
  check_refusal(cdb, "/GO", "(8i10)", "line 63", "belongs to no command");
  check_refusal(cdb, "810111010\n", "8101110101012\n", "line 33", "'1012'", "last column");
  check_refusal(cdb, "/GO", "ESEL,S,ELEM,,7\nSOLVE", "line 64", "part", "ALLSEL");
  check_refusal(cdb, "KEYOP,        1, 2", "KEYOP,        1, 3", "layers");
  check_refusal(cdb, "TREF,", "MP,ALPX,1,1e-5\nMP,REFT,1,20\nTREF,", "material 1 expands", "20");
  // Node 6, held along z, has axes of its own.
  check_refusal(cdb, "E+000\n   7 ", "E+000 0.0000000000000E+000 3.0000000000000E+001\n   7 ",
                "node 6", "NROTAT");
}

TEST_CASE("bad Gmsh models are refused, and files of other kinds", "[hexa]") {
  const Bytes msh = sample_gmsh_2_groups();
  check_refusal(msh, "4 5 2 3 1 2 3 6 5 8 9 12 11", "4 4 2 3 1 2 3 6 8", "line 32", "tetrahedra");
  check_refusal(msh, "3 5 2 3 1 1 2 5 4", "3 5 2 3 1 1 2 4 5", "line 31: element 3: the",
                "inside out");
  check_refusal(msh, "\"tip\"", "tip", "line 6", "name of a physical group");
  check_refusal(sample_gmsh_4_groups(), "4 2 3 6 5 8 9 12 11", "4 2 3 6 5 8 9 12 2",
                "node 2 twice");
  CHECK_SAYS(refusal_of_model("a.stl", "solid"), "a.stl", "by its name", ".inp", ".cdb");
  CHECK_SAYS(refusal_of_model("a.inp", ""), "a.inp", "empty");
  CHECK_THROWS_AS(read_model("a.inp", sample_inp(), 0), std::invalid_argument);
}
