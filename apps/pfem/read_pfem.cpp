// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/read_pfem.hpp"

#include "apps/driver/json_file.hpp"
#include "apps/driver/json_place.hpp"
#include "apps/pfem/pfem_choices.hpp"
#include "apps/pfem/pfem_generators.hpp"

#include <filesystem>

namespace femura {

namespace {

using Place = JsonPlace;

template<std::size_t n>
std::array<double, n> positive_numbers(const Place& place, const char* expected) {
  const auto values = place.numbers<n>(expected);
  for (const double value : values)
    if (!(value > 0))
      place.fail_value(expected);
  return values;
}

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
    mesh.file = (std::filesystem::path(directory) /
                 place.at("file", "").text("the name of a .msh, .inp, .cdb, .vtk or .vtu file"))
                    .string();
    if (const auto unit = place.find("unit"))
      mesh.unit = unit->positive("m per unit of the file, greater than 0");
    return mesh;
  }
  mesh.kind = PfemSource::Kind::generator;
  if (place.has("unit"))
    fail<InputError>(place.where(), ": \"unit\" has no effect with \"generator\": leave it out");
  std::vector<std::pair<const char*, std::string>> names;
  for (const char* name : pfem_generator_names())
    names.emplace_back(name, name);
  mesh.generator = place.at("generator", "").choice(names);
  if (const auto cells = place.find("cells")) {
    const char* expected = "three numbers of cells, 1 to 9999, such as [3, 3, 3]";
    const std::vector<Place> list = cells->items(expected);
    if (list.size() != 3)
      cells->fail_value(expected);
    mesh.cells.emplace();
    for (std::size_t i = 0; i < 3; ++i)
      (*mesh.cells)[i] = list[i].whole(1, 9999, expected);
  }
  if (const auto size = place.find("size"))
    mesh.size = positive_numbers<3>(*size, "three lengths in m, greater than 0");
  if (const auto shear = place.find("shear"))
    mesh.shear = shear->numbers<3>("three shears: of x by y, of x by z, of y by z");
  if (const auto distort = place.find("distort")) {
    const char* expected = "part of an edge by which vertices are moved, 0 to 0.5";
    mesh.distort = distort->not_negative(expected);
    if (*mesh.distort > 0.5)
      distort->fail_value(expected);
  }
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
      part.require_object(pfem_selection_keys("elements", {"order"}));
      orders.by_set.emplace_back(read_pfem_selection(part, "elements"),
                                 read_order(part.at("order", "of these elements")));
    }
  }
  return orders;
}

/// Records in `problem` that a choice replaces what `reference(options)` refers to.
template<class Value, class Reference>
void read_choice(const Place& place, const char* key, const NamedValues<Value>& choices,
                 PfemDocument& problem, Reference reference) {
  if (const auto found = place.find(key)) {
    const Value value = found->choice(choices);
    problem.changes.push_back(
        [reference, value](PfemOptions& options) { reference(options) = value; });
  }
}

void read_solver(const Place& place, PfemDocument& problem) {
  place.require_object(
      {"operator", "form", "preconditioner", "element_wise", "tolerance", "max_iterations"});
  using O = PfemOptions;
  // First, because what it implies gives way to what the others say.
  if (const auto on = place.find("element_wise"); on && on->boolean())
    problem.changes.push_back(choose_element_wise);
  read_choice(place, "operator", hierarchic_operator_choices(), problem,
              [](O& o) -> HierarchicOperatorKind& { return o.solver.kind; });
  read_choice(place, "form", form_choices(), problem,
              [](O& o) -> StiffnessMethod& { return o.solver.form; });
  read_choice(place, "preconditioner", hierarchic_preconditioner_choices(), problem,
              [](O& o) -> HierarchicPreconditioner& { return o.solver.preconditioner; });
  if (const auto tolerance = place.find("tolerance")) {
    const char* expected = "a relative residual, greater than 0 and less than 1";
    const double value = tolerance->positive(expected);
    if (!(value < 1))
      tolerance->fail_value(expected);
    problem.changes.push_back([value](O& o) { o.solver.tolerance = value; });
  }
  if (const auto most = place.find("max_iterations"))
    problem.changes.push_back(
        [value = most->whole(1, 2147483647, "a number of iterations, at least 1")](O& o) {
          o.solver.max_iterations = value;
        });
}

void read_discretisation(const Place& place, PfemDocument& problem) {
  using O = PfemOptions;
  read_choice(place, "space", space_choices(), problem, [](O& o) -> HexaSpace& { return o.space; });
  read_choice(place, "scaling", scaling_choices(), problem,
              [](O& o) -> ModeScaling& { return o.discretisation.scaling; });
  if (place.has("quadrature") && place.has("points"))
    fail<InputError>(place.where(), ": both \"quadrature\" and \"points\": leave one out");
  if (const auto rule = place.find("quadrature"))
    problem.changes.push_back([value = rule->choice(quadrature_choices())](O& o) {
      o.discretisation.rule = value;
      o.discretisation.points = 0;
      o.points_given = true;
    });
  if (const auto points = place.find("points"))
    problem.changes.push_back(
        [value = points->whole(1, 32, "quadrature points along each axis, 1 to 32")](O& o) {
          o.discretisation.points = value;
          o.points_given = true;
        });
}

void read_materials(const Place& place, PfemDocument& problem) {
  if (const auto material = place.find("material")) {
    material->require_object({"young", "poisson", "orthotropic", "elasticity"});
    problem.material = read_pfem_material(*material);
  }
  if (const auto list = place.find("materials"))
    for (const Place& part : list->items("a list of elements and their materials")) {
      part.require_object(
          pfem_selection_keys("elements", {"young", "poisson", "orthotropic", "elasticity"}));
      problem.materials.push_back(
          {read_pfem_selection(part, "elements"), read_pfem_material(part)});
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

} // namespace femura
