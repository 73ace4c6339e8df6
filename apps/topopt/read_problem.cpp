// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/read_problem.hpp"

#include "apps/driver/json_file.hpp"
#include "apps/driver/json_place.hpp"
#include "apps/topopt/generators.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace femura {

namespace {

using Place = JsonPlace;

std::array<int, 3> read_cells(const Place& place) {
  const char* expected = "three numbers of cells, 1 to 9999, such as [60, 20, 20]";
  const std::vector<Place> list = place.items(expected);
  if (list.size() != 3)
    place.fail_value(expected);
  std::array<int, 3> cells{};
  for (std::size_t i = 0; i < 3; ++i)
    cells[i] = list[i].whole(1, 9999, expected);
  return cells;
}

std::array<double, 3> read_size(const Place& place) {
  const char* expected = "three lengths in m, greater than 0";
  const auto size = place.numbers<3>(expected);
  if (!std::all_of(size.begin(), size.end(), [](double x) { return x > 0; }))
    place.fail_value(expected);
  return size;
}

void read_material(const Place& place, ProblemDocument& problem) {
  place.require_object({"young", "poisson"});
  if (const auto young = place.find("young"))
    problem.young = young->positive("Young's modulus in Pa, greater than 0");
  if (const auto poisson = place.find("poisson")) {
    const char* expected = "Poisson's ratio, greater than -1 and less than 0.5";
    problem.poisson = poisson->number(expected);
    if (!(*problem.poisson > -1 && *problem.poisson < 0.5))
      poisson->fail_value(expected);
  }
}

} // namespace

HexaSource read_hexa_source(const JsonPlace& place, const std::string& directory) {
  place.require_object(
      {"file", "unit", "box", "generator", "cells", "size", "distort", "renumber"});
  HexaSource mesh;
  const std::string kind = place.only_name({"file", "box", "generator"});
  const bool is_file = kind == "file";
  for (const char* name : {"unit", "distort", "renumber", "cells", "size"}) {
    const bool of_file = name == std::string("unit");
    const bool of_generator = name == std::string("cells") || name == std::string("size");
    if (place.has(name) && (of_file != is_file || (of_generator && kind == "box")))
      fail<InputError>(place.where(), ": \"", name, "\" has no effect with \"", kind,
                       "\": leave it out");
  }
  const Place what = place.at(kind, "");
  if (is_file) {
    mesh.kind = HexaSource::Kind::file;
    mesh.file = (std::filesystem::path(directory) /
                 what.text("the name of a .inp, .cdb, .msh, .vtk or .vtu file"))
                    .string();
    if (const auto unit = place.find("unit"))
      mesh.unit = unit->positive("m per unit of the file, greater than 0");
    return mesh;
  }
  if (kind == "box") {
    mesh.kind = HexaSource::Kind::box;
    what.require_object({"cells", "size"});
    mesh.cells = read_cells(what.at("cells", "numbers of cells, such as [60, 20, 20]"));
    if (const auto size = what.find("size"))
      mesh.size = read_size(*size);
  } else {
    mesh.kind = HexaSource::Kind::generator;
    std::vector<std::pair<const char*, std::string>> names;
    for (const char* name : generator_names())
      names.emplace_back(name, name);
    mesh.generator = what.choice(names);
    if (const auto cells = place.find("cells"))
      mesh.cells = read_cells(*cells);
    if (const auto size = place.find("size"))
      mesh.size = read_size(*size);
  }
  if (const auto distort = place.find("distort")) {
    const char* expected = "part of an edge by which nodes are moved, 0 to 0.5";
    mesh.distort = distort->not_negative(expected);
    if (mesh.distort > 0.5)
      distort->fail_value(expected);
  }
  if (const auto seed = place.find("renumber"))
    mesh.renumber = std::uint64_t(
        seed->whole(0, std::numeric_limits<int>::max(), "the seed of a random order, at least 0"));
  return mesh;
}

ProblemDocument read_problem(const std::string& path) {
  const nlohmann::ordered_json json = read_json(path);
  const Place place(json, path);
  std::vector<std::string> keys = {"description", "mesh",    "material", "supports",
                                   "cases",       "passive", "mirrors",  "objective"};
  for (const std::string& key : design_keys())
    keys.push_back(key);
  place.require_object(keys);
  ProblemDocument problem;
  problem.file = path;
  if (const auto description = place.find("description"))
    description->text("a text");
  problem.mesh = read_hexa_source(place.at("mesh", "a file, a box or a generator"),
                                  std::filesystem::path(path).parent_path().string());
  if (const auto material = place.find("material"))
    read_material(*material, problem);
  read_loading(place, problem);
  read_design(place, problem);
  return problem;
}

} // namespace femura
