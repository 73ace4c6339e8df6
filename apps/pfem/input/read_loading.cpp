// SPDX-License-Identifier: Apache-2.0
// The reader takes parts of a mesh, their supports and loads, and their materials from a problem.
#include "apps/driver/problem/read_mechanics.hpp"
#include "apps/pfem/input/read_problem.hpp"
#include <ossatura/solvers/pfem/orthotropy.hpp>

namespace ossatura {

namespace {

using Place = JsonPlace;

PfemLoad read_load(const Place& place) {
  PfemLoad load;
  load.place = place.where();
  const std::vector<std::string> kinds = {"pressure", "traction", "force", "body_force"};
  if (const auto density = place.find("body_force")) {
    place.only_name(kinds);
    place.require_object({"body_force"}); // it acts everywhere
    load.kind = PfemLoad::Kind::body_force;
    load.value = density->numbers<3>("three components of a force density in N/m3");
    return load;
  }
  load.where = read_pfem_selection(place, "vertices", kinds);
  const std::string kind = place.only_name(kinds);
  const Place value = place.at(kind, "");
  if (kind == "pressure") {
    load.value[0] = value.number("a pressure in N/m2");
  } else {
    load.kind = kind == "force" ? PfemLoad::Kind::force : PfemLoad::Kind::traction;
    load.value = value.numbers<3>(kind == "force" ? "three components of a force in N"
                                                  : "three components of a traction in N/m2");
  }
  return load;
}

} // namespace

MeshSelection read_pfem_selection(const JsonPlace& place, const std::string& numbers,
                                  const std::vector<std::string>& more) {
  return read_selection(place, {"set", "box", "plane", "sphere", "cylinder"}, numbers, more);
}

void read_pfem_loading(const JsonPlace& place, PfemDocument& problem) {
  if (const auto list = place.find("supports")) {
    problem.supports.emplace();
    for (const Place& item : list->items("a list of parts that are held")) {
      PfemSupport support;
      support.where = read_pfem_selection(item, "vertices", {"components", "displacement"});
      if (const auto components = item.find("components"))
        support.components = read_components(*components);
      if (const auto displacement = item.find("displacement"))
        support.displacement = displacement->numbers<3>("three displacements in m");
      for (std::size_t c = 0; c < 3; ++c)
        if (support.displacement[c] != 0 && (support.components >> c & 1) == 0)
          fail<InputError>(item.where(), ": a displacement along ", "xyz"[c],
                           ", which is not among the components that are held");
      problem.supports->push_back(std::move(support));
    }
  }
  if (const auto list = place.find("loads")) {
    problem.loads.emplace();
    for (const Place& item : list->items("a list of loads"))
      problem.loads->push_back(read_load(item));
  }
}

PfemMaterial read_pfem_material(const JsonPlace& place) {
  const std::string kind = place.only_name({"young", "orthotropic", "elasticity"});
  const Place value = place.at(kind, "");
  if (kind != "young" && place.has("poisson"))
    fail<InputError>(place.where(), ": \"poisson\" has no effect with \"", kind,
                     "\": leave it out");
  PfemMaterial material;
  if (kind == "young") {
    material.young = value.positive("Young's modulus in Pa, greater than 0");
    material.poisson = read_poisson(place.at("poisson", poisson_range));
    return material;
  }
  if (kind == "orthotropic") {
    value.require_object({"young", "poisson", "shear"});
    const auto three = [&value](const char* key, const char* expected) {
      return value.at(key, expected).numbers<3>(expected);
    };
    Orthotropy moduli;
    moduli.young = three("young", "three moduli in Pa: x, y, z");
    moduli.poisson = three("poisson", "three of Poisson's ratios: yz, zx, xy");
    moduli.shear = three("shear", "three shear moduli in Pa: yz, zx, xy");
    material.elasticity = orthotropic_elasticity(moduli);
  } else {
    const auto entries = value.numbers<21>(
        "21 moduli in Pa: the upper triangle of D, row by row, strains xx yy zz yz zx xy");
    material.elasticity.assign(entries.begin(), entries.end());
  }
  if (material.elasticity.empty() || !is_positive_definite(material.elasticity))
    fail<InputError>(value.where(), ": not positive definite: a strain would set energy free");
  return material;
}

} // namespace ossatura
