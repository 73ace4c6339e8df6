// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/read_problem.hpp"

#include "apps/driver/problem/json_file.hpp"
#include "apps/driver/problem/read_mechanics.hpp"
#include <ossatura/solvers/topopt/generators.hpp>

#include <filesystem>
#include <limits>

namespace ossatura {

namespace {

using Place = JsonPlace;

std::array<int, 3> read_cells(const Place& place) {
  return place.wholes<3>(1, 9999, "three numbers of cells, 1 to 9999, such as [60, 20, 20]");
}

std::array<double, 3> read_size(const Place& place) {
  return place.positives<3>("three lengths in m, greater than 0");
}

void read_material(const Place& place, ProblemDocument& problem) {
  place.require_object({"young", "poisson", "mass_density", "expansion"});
  if (const auto young = place.find("young"))
    problem.young = young->positive("Young's modulus in Pa, greater than 0");
  if (const auto poisson = place.find("poisson"))
    problem.poisson = read_poisson(*poisson);
  if (const auto density = place.find("mass_density"))
    problem.mass_density = density->positive("kg/m3, greater than 0");
  if (const auto expansion = place.find("expansion"))
    problem.expansion = expansion->number("strain for each K, such as 1.2e-5");
}

} // namespace

HexaSource read_hexa_source(const JsonPlace& place, const std::string& directory) {
  place.require_object({"file", "unit", "voxel", "lower", "box", "generator", "cells", "size",
                        "distort", "renumber"});
  HexaSource mesh;
  const std::string kind = place.only_name({"file", "box", "generator"});
  const bool is_file = kind == "file";
  for (const char* name : {"unit", "voxel", "lower", "distort", "renumber", "cells", "size"}) {
    const std::string key = name;
    const bool of_file = key == "unit" || key == "voxel" || key == "lower";
    const bool of_generator = key == "cells" || key == "size";
    if (place.has(name) && (of_file != is_file || (of_generator && kind == "box")))
      fail<InputError>(place.where(), ": \"", name, "\" has no effect with \"", kind,
                       "\": leave it out");
  }
  const Place what = place.at(kind, "");
  if (is_file) {
    mesh.kind = HexaSource::Kind::file;
    mesh.file = (std::filesystem::path(directory) /
                 what.text("the name of a .inp, .cdb, .msh, .vtk, .vtu, .hdf, "
                           ".stl, .off or .step file, or of an image"))
                    .string();
    if (const auto voxel = place.find("voxel")) {
      mesh.voxel = voxel->positive("the edge of cubes in m, greater than 0");
      if (!is_surface(mesh))
        fail<InputError>(voxel->where(),
                         ": \"voxel\" is of surfaces (.stl, .off, .step): leave it out",
                         is_image(mesh) ? "; the voxels of an image are the elements" : "");
    }
    if (const auto lower = place.find("lower")) {
      mesh.lower = lower->number("the least value of voxels that are the body");
      if (!is_image(mesh))
        fail<InputError>(lower->where(),
                         ": \"lower\" is of images (.mha, .nii.gz, .nrrd): leave it out");
    }
    if (const auto unit = place.find("unit")) {
      mesh.unit = unit->positive("m per unit of the file, greater than 0");
      mesh.says_unit = true;
      if (is_image(mesh))
        fail<InputError>(unit->where(),
                         ": has no effect on an image, which says its edges: leave it out");
    }
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
    mesh.generator = what.one_of(generator_names());
    if (const auto cells = place.find("cells"))
      mesh.cells = read_cells(*cells);
    if (const auto size = place.find("size"))
      mesh.size = read_size(*size);
  }
  if (const auto distort = place.find("distort"))
    mesh.distort = read_distortion(*distort, "nodes");
  if (const auto seed = place.find("renumber"))
    mesh.renumber = std::uint64_t(
        seed->whole(0, std::numeric_limits<int>::max(), "the seed of a random order, at least 0"));
  return mesh;
}

ProblemDocument read_problem(const std::string& path) {
  const nlohmann::ordered_json json = read_json(path);
  const Place place(json, path);
  std::vector<std::string> keys = {
      "description", "mesh",    "material", "materials", "supports",    "cases",       "passive",
      "keep",        "mirrors", "whole",    "objective", "constraints", "rigid_bodies"};
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

} // namespace ossatura
