// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/input/read_problem.hpp"

#include "apps/driver/problem/json_changes.hpp"
#include "apps/driver/problem/json_file.hpp"
#include "apps/driver/problem/read_mechanics.hpp"
#include <ossatura/solvers/pfem/generators.hpp>

#include <filesystem>

namespace ossatura {

namespace {

using Place = JsonPlace;

PfemSource read_source(const Place& place, const std::string& directory) {
  PfemSource mesh;
  const std::vector<std::string> of_generators = {"cells",  "size", "shear", "distort", "along",
                                                  "across", "up",   "inner", "outer",   "height"};
  std::vector<std::string> keys = {"file", "unit", "generator"};
  keys.insert(keys.end(), of_generators.begin(), of_generators.end());
  place.require_object(keys);
  const std::string kind = place.only_name({"file", "generator"});
  if (kind == "file") {
    for (const std::string& key : of_generators)
      if (place.has(key))
        fail<InputError>(place.where(), ": \"", key,
                         "\" has no effect with \"file\": leave it out");
    mesh.file =
        (std::filesystem::path(directory) /
         place.at("file", "").text("the name of a .msh, .inp, .cdb, .vtk, .vtu or .hdf file"))
            .string();
    if (const auto unit = place.find("unit")) {
      mesh.unit = unit->positive("m per unit of the file, greater than 0");
      mesh.says_unit = true;
    }
    return mesh;
  }
  mesh.kind = PfemSource::Kind::generator;
  if (place.has("unit"))
    fail<InputError>(place.where(), ": \"unit\" has no effect with \"generator\": leave it out");
  mesh.generator = place.at("generator", "").one_of(pfem_generator_names());
  if (const auto cells = place.find("cells"))
    mesh.cells = cells->wholes<3>(1, 9999, "three numbers of cells, 1 to 9999, such as [3, 3, 3]");
  if (const auto size = place.find("size"))
    mesh.size = size->positives<3>("three lengths in m, greater than 0");
  if (const auto shear = place.find("shear"))
    mesh.shear = shear->numbers<3>("three shears: of x by y, of x by z, of y by z");
  if (const auto distort = place.find("distort"))
    mesh.distort = read_distortion(*distort, "vertices");
  const auto count = [&place](const char* key, std::optional<int>& number) {
    if (const auto value = place.find(key))
      number = value->whole(1, 9999, "a number of elements, 1 to 9999");
  };
  count("along", mesh.along);
  count("across", mesh.across);
  count("up", mesh.up);
  const auto length = [&place](const char* key, std::optional<double>& number) {
    if (const auto value = place.find(key))
      number = value->positive("a length in m, greater than 0");
  };
  length("inner", mesh.inner);
  length("outer", mesh.outer);
  length("height", mesh.height);
  check_generator(mesh, place.where() + ": ", "");
  return mesh;
}

int read_order(const Place& place) {
  return place.whole(1, max_hexa_order, "an order, 1 to " + std::to_string(max_hexa_order));
}

PfemOrders read_orders(const Place& place) {
  PfemOrders orders;
  orders.place = place.where();
  if (place.json().is_number()) {
    orders.all = read_order(place);
  } else if (place.json().is_array()) {
    for (const Place& order : place.items(""))
      orders.by_elem.push_back(std::uint8_t(read_order(order)));
  } else {
    place.require_object({"all", "parts"});
    if (const auto all = place.find("all"))
      orders.all = read_order(*all);
    const char* expected = "a list of elements with an \"order\"";
    for (const Place& part : place.at("parts", expected).items(expected)) {
      MeshSelection elements = read_pfem_selection(part, "elements", {"order"});
      orders.by_set.emplace_back(std::move(elements),
                                 read_order(part.at("order", "of these elements")));
    }
  }
  return orders;
}

void read_solver(const Place& place, PfemDocument& problem) {
  place.require_object(
      {"operator", "form", "preconditioner", "element_wise", "tolerance", "max_iterations"});
  // First, because what it implies gives way to what the others say.
  if (const auto on = place.find("element_wise"); on && on->boolean())
    problem.changes.add(choose_element_wise);
  using S = HierarchicSolverOptions;
  ChangeReader<PfemOptions> read(place, problem.changes);
  read.choose("operator", of_pfem_solver(&S::kind));
  read.choose("form", of_pfem_solver(&S::form));
  read.choose("preconditioner", of_pfem_solver(&S::preconditioner));
  read.fraction("tolerance", of_pfem_solver(&S::cg, &CgOptions::tolerance),
                "a relative residual, greater than 0 and less than 1");
  read.count("max_iterations", of_pfem_solver(&S::cg, &CgOptions::max_iterations), 1,
             "a number of iterations, at least 1");
}

void read_discretisation(const Place& place, PfemDocument& problem) {
  using O = PfemOptions;
  ChangeReader<O> read(place, problem.changes);
  read.choose("space", &O::space);
  read.choose("scaling", member_of(&O::discretisation, &HierarchicOptions::scaling));
  if (place.has("quadrature") && place.has("points"))
    fail<InputError>(place.where(), ": both \"quadrature\" and \"points\": leave one out");
  if (const auto rule = place.find("quadrature"))
    problem.changes.add(
        [value = rule->choice<QuadratureRule>()](O& options) { choose_rule(value, options); });
  if (const auto points = place.find("points"))
    problem.changes.add(
        [value = points->whole(1, 32, "quadrature points along each axis, 1 to 32")](O& options) {
          choose_points(value, options);
        });
}

void read_materials(const Place& place, PfemDocument& problem) {
  const std::vector<std::string> keys = {"young", "poisson", "orthotropic", "elasticity"};
  if (const auto material = place.find("material")) {
    material->require_object(keys);
    problem.material = read_pfem_material(*material);
  }
  if (const auto list = place.find("materials"))
    for (const Place& part : list->items("a list of elements and their materials")) {
      MeshSelection elements = read_pfem_selection(part, "elements", keys);
      problem.materials.push_back({std::move(elements), read_pfem_material(part)});
    }
}

} // namespace

PfemDocument read_pfem(const std::string& path) {
  const nlohmann::ordered_json json = read_json(path);
  const Place place(json, path);
  place.require_object({"description", "mesh", "order", "space", "scaling", "quadrature", "points",
                        "material", "materials", "supports", "loads", "solver"});
  PfemDocument problem;
  problem.file = path;
  if (const auto description = place.find("description"))
    description->text("a text");
  problem.mesh = read_source(place.at("mesh", "a file or a generator"),
                             std::filesystem::path(path).parent_path().string());
  if (const auto orders = place.find("order"))
    problem.orders = read_orders(*orders);
  read_discretisation(place, problem);
  read_materials(place, problem);
  read_pfem_loading(place, problem);
  if (const auto solver = place.find("solver"))
    read_solver(*solver, problem);
  return problem;
}

} // namespace ossatura
