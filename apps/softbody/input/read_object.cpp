// SPDX-License-Identifier: Apache-2.0
// The reader takes one of the "objects" from a scene.
#include "apps/driver/problem/read_mechanics.hpp"
#include "apps/softbody/input/read_scene.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace ossatura {

namespace {

using Place = JsonPlace;
const char* const three = "three numbers";

constexpr int most_cells = 1 << 20;

template<class Value, std::size_t n>
void copy(const std::array<Value, n>& from, Value (&to)[3]) {
  std::copy(from.begin(), from.end(), to);
}

MeshChoice read_mesh(const Place& place, const std::string& directory) {
  place.require_object({"file", "unit", "cloth", "hexa_box", "tetra_box", "ellipsoid"});
  MeshChoice mesh;
  const std::string kind = place.only_name({"file", "cloth", "hexa_box", "tetra_box", "ellipsoid"});
  if (place.has("unit") && kind != "file")
    fail<InputError>(place.where(), ": \"unit\" has no effect without \"file\": leave it out");
  const Place what = place.at(kind, "");
  if (kind == "file") {
    mesh.kind = MeshChoice::Kind::file;
    mesh.file = (std::filesystem::path(directory) /
                 what.text("the name of a .msh, .vtk, .vtu or .hdf file"))
                    .string();
    if (const auto unit = place.find("unit"))
      mesh.unit = unit->positive("m per unit of the file, greater than 0");
  } else if (kind == "cloth") {
    what.require_object({"nodes", "size"});
    const std::string nodes = "nodes of the two sides, at least 2, such as [70, 70]";
    const std::string size = "lengths of the two sides in m, such as [1, 1]";
    mesh.kind = MeshChoice::Kind::cloth;
    copy(what.at("nodes", nodes).wholes<2>(2, most_cells, nodes), mesh.count);
    copy(what.at("size", size).positives<2>(size), mesh.size);
  } else if (kind == "ellipsoid") {
    what.require_object({"cells", "semi_axes"});
    const std::string cells = "cells across, a whole number from 2 to 1000";
    const std::string axes = "three semi-axes in m, greater than 0";
    mesh.kind = MeshChoice::Kind::ellipsoid;
    mesh.count[0] = what.at("cells", cells).whole(2, 1000, cells);
    copy(what.at("semi_axes", axes).positives<3>(axes), mesh.size);
  } else {
    what.require_object({"cells", "size"});
    const std::string cells = "three numbers of cells, at least 1, such as [10, 2, 2]";
    const std::string size = "three lengths in m, greater than 0";
    mesh.kind = kind == "hexa_box" ? MeshChoice::Kind::hexa_box : MeshChoice::Kind::tetra_box;
    copy(what.at("cells", cells).wholes<3>(1, most_cells, cells), mesh.count);
    copy(what.at("size", size).positives<3>(size), mesh.size);
  }
  return mesh;
}

MeshSelection read_nodes(const Place& place, const std::vector<std::string>& more) {
  return read_selection(place, {"box"}, "nodes", more);
}

SoftMaterial read_material(const Place& place) {
  std::vector<std::string> names = {"law", "rotation", "thickness"};
  for (const SoftParameter& p : soft_parameters)
    names.emplace_back(p.name);
  place.require_object(names);
  SoftMaterial material;
  if (const auto law = place.find("law"))
    material.law = law->choice<SoftLaw>();
  const auto refuse_unused = [&](const char* name, bool is_used) {
    if (place.has(name) && !is_used)
      fail<InputError>(place.where(), ": \"", name, "\" has no effect on the law ",
                       name_of(material.law), ": leave it out");
  };
  refuse_unused("rotation", material.law == SoftLaw::corotational);
  for (const SoftParameter& p : soft_parameters)
    refuse_unused(p.name, p.is_of(material.law));
  if (const auto rotation = place.find("rotation"))
    material.rotation = rotation->choice<SoftRotation>();
  if (const auto thickness = place.find("thickness"))
    material.thickness = thickness->positive("the thickness of triangles in m, greater than 0");
  for (const SoftParameter& p : soft_parameters)
    if (p.is_of(material.law)) {
      const Place value = place.at(p.name, p.expected);
      material.*p.value = value.number(p.expected);
      if (!p.admits(material.*p.value))
        value.fail_value(p.expected);
    }
  if (const char* fault = fault_of(material))
    fail<InputError>(place.where(), ": ", fault);
  return material;
}

LoadChoice read_load(const Place& place) {
  LoadChoice load;
  load.where = read_nodes(place, {"force", "total_force"});
  const std::string name = place.only_name({"force", "total_force"});
  load.is_total = name == "total_force";
  load.force = place.at(name, three).numbers<3>("three components of a force in N");
  return load;
}

RegionChoice read_region(const Place& place) {
  place.require_object({"box", "young_factor"});
  RegionChoice region;
  region.where.kind = MeshSelection::Kind::box;
  region.where.place = place.where();
  region.where.box = read_box(place.at("box", box_numbers));
  const char* factor = "what the moduli are multiplied by, greater than 0";
  region.young_factor = place.at("young_factor", factor).positive(factor);
  return region;
}

void read_mass(const Place& place, ObjectChoice& object) {
  if (place.has("density") && place.has("node_mass"))
    fail<InputError>(place.where(), ": both \"density\" and \"node_mass\": leave one out");
  if (const auto density = place.find("density"))
    object.density = density->not_negative("a density in kg/m3, at least 0");
  if (const auto mass = place.find("node_mass"))
    object.node_mass = mass->positive("the mass of a node in kg, greater than 0");
}

void read_pose(const Place& place, ObjectChoice& object) {
  if (const auto scale = place.find("scale"))
    object.scale = scale->positive("a factor greater than 0");
  if (const auto translation = place.find("translate"))
    object.translation = translation->numbers<3>("three lengths in m");
  const auto rotation = place.find("rotate");
  if (!rotation)
    return;
  rotation->require_object({"axis", "degrees"});
  const Place axis = rotation->at("axis", three);
  object.axis = axis.numbers<3>("three components of the axis");
  if (object.axis == std::array<double, 3>{0, 0, 0})
    axis.fail_value("an axis that is not zero");
  object.degrees = rotation->at("degrees", "the angle").number("the angle in degrees");
}

} // namespace

ObjectChoice read_object(const JsonPlace& place, const std::string& directory) {
  place.require_object({"name", "mesh", "translate", "rotate", "scale", "material", "regions",
                        "density", "node_mass", "fixed", "loads", "velocity"});
  ObjectChoice object;
  object.place = place.where();
  const std::string expected = "a name of letters, digits, _ and -";
  object.name = place.at("name", expected).text(expected);
  if (!std::all_of(object.name.begin(), object.name.end(),
                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; }))
    place.at("name", expected).fail_value(expected);
  object.mesh =
      read_mesh(place.at("mesh", "a file, cloth, hexa_box, tetra_box or ellipsoid"), directory);
  read_pose(place, object);
  const Place material = place.at("material", "a law with its moduli");
  object.material = read_material(material);
  object.has_thickness = material.has("thickness");
  read_mass(place, object);
  if (const auto list = place.find("regions"))
    for (const Place& region : list->items("a list of regions"))
      object.regions.push_back(read_region(region));
  if (const auto list = place.find("fixed"))
    for (const Place& fixed : list->items("a list of boxes and nodes"))
      object.fixed.push_back(read_nodes(fixed, {}));
  if (const auto list = place.find("loads"))
    for (const Place& load : list->items("a list of loads"))
      object.loads.push_back(read_load(load));
  if (const auto velocity = place.find("velocity"))
    object.velocity = velocity->numbers<3>("three components of a velocity in m/s");
  return object;
}

} // namespace ossatura
