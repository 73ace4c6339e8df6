// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/pfem_model.hpp"

#include "apps/driver/free_motion.hpp"
#include "apps/driver/library_message.hpp"
#include "apps/driver/table.hpp"
#include "apps/pfem/pfem_selector.hpp"
#include "apps/pfem/read_pfem.hpp"
#include "core/io/curved_hexa_file.hpp"
#include "core/require.hpp"

#include <algorithm>
#include <cmath>

namespace femura {

namespace {

constexpr int default_order = 4;

/// What a file or a generator gives.
struct Body {
  PfemBody made;
  HexaModel model; ///< of a file; its mesh is in `made`
  std::string no_numbers;
};

Body load_body(const PfemSource& source, PfemModel& model) {
  Body body;
  if (source.kind == PfemSource::Kind::generator) {
    try {
      body.made = generate_pfem(source);
    } catch (const std::invalid_argument& error) {
      fail<InputError>(source.generator, ": ", library_message(error));
    }
    return body;
  }
  ElementFileOptions options;
  options.unit = source.unit;
  CurvedHexaFile file = read_curved_hexa_file(source.file, options);
  for (const std::string& note : file.notes)
    log_warning(source.file, ": ", note);
  model.unused_points = file.unused_points;
  if (file.geometry.map)
    body.no_numbers = source.file + " has nodes that are no vertices of elements";
  else if (file.unused_points > 0)
    body.no_numbers = source.file + " has " + std::to_string(file.unused_points) +
                      " points without element, which are left out";
  body.made.shape = std::move(file.geometry);
  body.made.source = source.file;
  body.model = std::move(file.model);
  return body;
}

std::vector<std::uint8_t> orders_of(const PfemOrders& orders, const PfemSelector& select,
                                    std::size_t num_elem) {
  if (!orders.by_elem.empty() && orders.by_elem.size() != num_elem)
    fail<InputError>(orders.place, ": ", orders.by_elem.size(), " orders, but the mesh has ",
                     num_elem, " elements: give one for each");
  if (!orders.by_elem.empty())
    return orders.by_elem;
  const auto all = std::uint8_t(orders.all.value_or(default_order));
  if (orders.by_set.empty())
    return {all};
  std::vector<std::uint8_t> order(num_elem, all);
  for (const auto& [selection, value] : orders.by_set)
    for (const std::int32_t e : select.elements(selection))
      order[std::size_t(e)] = std::uint8_t(value);
  return order;
}

/// [21] of a material, or nothing where it has no modulus.
std::vector<double> elasticity_of(const PfemMaterial& material) {
  if (!material.elasticity.empty())
    return material.elasticity;
  if (!material.young)
    return {};
  return isotropic_elasticity(*material.young, material.poisson.value_or(0.3));
}

ElasticityField elasticity_of(const PfemDocument& document, const PfemMaterial& all,
                              const PfemSelector& select, std::size_t num_elem) {
  ElasticityField field;
  field.value = elasticity_of(all);
  if (!document.materials.empty()) {
    constexpr std::size_t n = elasticity_entries;
    const std::vector<double> rest = field.value;
    std::vector<std::uint8_t> has(num_elem, rest.empty() ? 0 : 1);
    field.value.resize(n * num_elem);
    for (std::size_t e = 0; e < num_elem && !rest.empty(); ++e)
      std::copy(rest.begin(), rest.end(), &field.value[n * e]);
    for (const PfemMaterialPart& part : document.materials) {
      const std::vector<double> d = elasticity_of(part.material);
      for (const std::int32_t e : select.elements(part.elements)) {
        std::copy(d.begin(), d.end(), &field.value[n * std::size_t(e)]);
        has[std::size_t(e)] = 1;
      }
    }
    const auto without = std::find(has.begin(), has.end(), 0);
    if (without != has.end())
      fail<InputError>(document.file, ": element ", without - has.begin(), " and ",
                       std::count(has.begin(), has.end(), 0) - 1,
                       " others have no material: give a \"material\" for all that are not in "
                       "\"materials\"");
  } else if (field.value.empty()) {
    fail<InputError>(document.file,
                     ": the material is missing: the mesh has no elastic constants: give "
                     "\"material\" with \"young\" and \"poisson\", or --young and --poisson");
  }
  return field;
}

/// Holds components of the modes of a part, with constant displacements.
void hold(const std::string& file, const PfemSupport& support, const PfemPart& part,
          PfemModel& model) {
  std::vector<std::int32_t> modes = part.vertices; // the first modes are the vertices
  const std::vector<std::int32_t> on_faces =
      modes_of_faces(model.shape.mesh, model.entities, model.numbering, part.faces);
  modes.insert(modes.end(), on_faces.begin(), on_faces.end());
  const std::int64_t num_vertices = model.num_vertices();
  for (const std::int32_t mode : modes)
    for (std::size_t c = 0; c < 3; ++c) {
      if ((support.components >> c & 1) == 0)
        continue;
      // A constant is what the functions of vertices add up to.
      const double wanted = mode < num_vertices ? support.displacement[c] : 0;
      std::uint8_t& mask = model.held[std::size_t(mode)];
      double& u = model.displacement[3 * std::size_t(mode) + c];
      if ((mask >> c & 1) != 0 && u != wanted)
        fail<InputError>(support.where.place, ": vertex ", mode, " is moved by ", wanted,
                         " m along ", "xyz"[c], " here, and by ", u,
                         " m in another support: leave one of them out");
      mask = std::uint8_t(mask | 1u << c);
      u = wanted;
    }
  std::string place = support.where.place;
  if (place.rfind(file + ": ", 0) == 0)
    place.erase(0, file.size() + 2);
  model.supports.push_back({place, support.components, part.vertices});
}

void hold_all(const PfemDocument& document, const Body& body, const PfemSelector& select,
              PfemModel& model) {
  model.held.assign(std::size_t(model.numbering.num_modes), 0);
  model.displacement.assign(3 * model.held.size(), 0);
  for (const PfemSupport& support : document.supports ? *document.supports : body.made.supports)
    hold(document.file, support, select.part(support.where), model);
  if (!document.supports)
    for (int c = 0; c < 3; ++c) {
      std::vector<std::int32_t> vertices;
      for (const HeldComponents& node : body.model.held)
        if ((node.components >> c & 1) != 0)
          vertices.push_back(node.node);
      if (vertices.empty())
        continue;
      PfemSupport support;
      support.where.place = model.source + ": held along " + "xyz"[c];
      support.components = std::uint8_t(1 << c);
      hold(document.file, support, select.part_of(std::move(vertices)), model);
    }
  std::vector<HeldComponents> vertices;
  for (std::int64_t i = 0; i < model.num_vertices(); ++i)
    if (model.held[std::size_t(i)] != 0)
      vertices.push_back({std::int32_t(i), model.held[std::size_t(i)]});
  const std::string motion = describe_free_motion(model.shape.mesh, vertices);
  if (!motion.empty() && vertices.empty())
    fail<InputError>(document.file, ": there are no supports, so that ", motion,
                     ": give \"supports\" in a .json problem, or a mesh file that has them");
  if (!motion.empty())
    fail<InputError>(document.file, ": ", motion, ": hold more vertices or components");
}

/// Quadrature points along each axis for loads.
int load_points(const PfemModel& model) {
  const int order = model.highest_order();
  const HierarchicOptions& o = model.options.discretisation;
  return std::max(o.points > 0 ? o.points : quadrature_points(o.rule, order), order + 2);
}

void add_load(const PfemLoad& load, const PfemSelector& select, PfemModel& model) {
  const ModeScaling scaling = model.options.discretisation.scaling;
  const int points = load_points(model);
  const std::array<double, 3> value = load.value;
  using Kind = PfemLoad::Kind;
  if (load.kind == Kind::body_force) {
    add_body_force(
        model.shape, model.numbering, scaling, points,
        [value](const double(&)[3], double(&force)[3]) {
          std::copy(value.begin(), value.end(), force);
        },
        model.force);
    return;
  }
  const PfemPart part = select.part(load.where);
  if (load.kind == Kind::force) {
    for (const std::int32_t vertex : part.vertices)
      for (std::size_t c = 0; c < 3; ++c)
        model.force[3 * std::size_t(vertex) + c] += value[c];
    return;
  }
  if (part.faces.empty())
    fail<InputError>(load.place,
                     ": none of the faces of the boundary has all of its four vertices among the ",
                     part.vertices.size(), " chosen ones: choose more, or a \"force\" on each");
  const bool is_pressure = load.kind == Kind::pressure;
  add_traction(
      model.shape, model.numbering, scaling, points, part.faces,
      [value, is_pressure](const double(&)[3], const double(&normal)[3], double(&traction)[3]) {
        for (std::size_t c = 0; c < 3; ++c)
          traction[c] = is_pressure ? -value[0] * normal[c] : value[c];
      },
      model.force);
}

void add_loads(const PfemDocument& document, const Body& body, const PfemSelector& select,
               PfemModel& model) {
  model.force.assign(3 * model.held.size(), 0);
  const std::vector<PfemLoad>& loads = document.loads ? *document.loads : body.made.loads;
  for (const PfemLoad& load : loads)
    add_load(load, select, model);
  model.num_loads = loads.size();
  if (!document.loads) {
    std::vector<std::string> names;
    for (const NodeLoads& step : body.model.loads) {
      if (step.forces.empty())
        continue;
      names.push_back(step.name);
      for (const NodeForce& node : step.forces)
        for (std::size_t c = 0; c < 3; ++c)
          model.force[3 * std::size_t(node.node) + c] += node.force[c];
    }
    if (names.size() > 1)
      fail<InputError>(model.source, ": ", names.size(), " load cases ('", names[0], "', '",
                       names[1],
                       "', ...), and one is solved here: give \"loads\" in a .json "
                       "problem");
    model.num_loads += names.size();
  }
  const auto is_zero = [](double x) { return x == 0; };
  if (std::all_of(model.force.begin(), model.force.end(), is_zero) &&
      std::all_of(model.displacement.begin(), model.displacement.end(), is_zero))
    fail<InputError>(document.file, ": there are no loads: give \"loads\", or supports with a "
                                    "\"displacement\", in a .json problem");
}

/// What surprises: the rule of the paper does not hold an element of order 2.
void warn_of_quadrature(const PfemModel& model) {
  const HierarchicOptions& o = model.options.discretisation;
  for (const auto& [order, count] : model.elements_by_order()) {
    const int points = o.points > 0 ? o.points : quadrature_points(o.rule, order);
    if (points < order + 1)
      log_warning(points, " quadrature points along each axis are too few for the ", count,
                  " elements of order ", order, ", whose matrices are inexact",
                  order == 2 ? " and have motions without energy that are not rigid" : "",
                  ": choose --quadrature p+1");
  }
}

} // namespace

std::int64_t PfemModel::num_held() const {
  std::int64_t count = 0;
  for (const std::uint8_t mask : held)
    count += (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1);
  return count;
}

int PfemModel::highest_order() const {
  return *std::max_element(numbering.order.begin(), numbering.order.end());
}

std::map<int, std::int64_t> PfemModel::elements_by_order() const {
  std::map<int, std::int64_t> count;
  for (const std::uint8_t order : numbering.order)
    ++count[order];
  return count;
}

PfemDocument make_pfem_document(const PfemCommandOptions& options) {
  PfemDocument document;
  PfemSource& mesh = document.mesh;
  if (options.is_json()) {
    document = read_pfem(options.problem);
  } else {
    document.file = options.problem;
    const bool is_generator = options.is_generator();
    mesh.kind = is_generator ? PfemSource::Kind::generator : PfemSource::Kind::file;
    (is_generator ? mesh.generator : mesh.file) = options.problem;
  }
  const bool is_file = mesh.kind == PfemSource::Kind::file;
  if (!is_file && options.unit)
    fail<UsageError>("--unit has no effect without a mesh file: leave it out");
  mesh.unit = options.unit.value_or(mesh.unit);
  mesh.seed = options.common.seed;
  const PfemSource& given = options.mesh;
  bool any = false;
  const auto take = [&any](const auto& from, auto& to) {
    if (from) {
      to = from;
      any = true;
    }
  };
  take(given.cells, mesh.cells);
  take(given.size, mesh.size);
  take(given.shear, mesh.shear);
  take(given.distort, mesh.distort);
  take(given.along, mesh.along);
  take(given.across, mesh.across);
  take(given.up, mesh.up);
  take(given.inner, mesh.inner);
  take(given.outer, mesh.outer);
  take(given.height, mesh.height);
  if (is_file && any)
    fail<UsageError>("options of generators have no effect on the mesh ", mesh.file,
                     ": leave them out");
  if (!is_file)
    try {
      check_generator(mesh, "", "--");
    } catch (const InputError& error) {
      throw UsageError(error.what());
    }
  if (options.order) {
    document.orders = {};
    document.orders.all = options.order;
  }
  if (options.young || options.poisson) {
    document.material.elasticity.clear();
    document.material.young = options.young ? options.young : document.material.young;
    document.material.poisson = options.poisson ? options.poisson : document.material.poisson;
  }
  for (const auto& change : options.changes)
    document.changes.push_back(change);
  return document;
}

PfemModel build_pfem_model(PfemDocument document) {
  PfemModel model;
  Body body = load_body(document.mesh, model);
  if (document.supports || document.loads) { // a problem of its own
    body.made.supports.clear();
    body.made.loads.clear();
    body.made.exact = nullptr;
  }
  model.shape = std::move(body.made.shape);
  model.source = body.made.source;
  const auto checked = [&model](const auto& make) {
    try {
      return make();
    } catch (const std::invalid_argument& error) {
      fail<InputError>(model.source, ": ", library_message(error));
    }
  };
  model.entities = checked([&] { return make_hexa_entities(model.shape.mesh); });
  const PfemSelector select(model.shape.mesh, model.entities, body.model.node_sets,
                            body.model.elem_sets, body.no_numbers);
  for (const auto& change : document.changes)
    change(model.options);
  const std::size_t num_elem = model.shape.mesh.num_elem();
  const std::vector<std::uint8_t> orders = orders_of(document.orders, select, num_elem);
  model.numbering = checked([&] {
    return make_hierarchic_numbering(model.shape.mesh, model.entities, model.options.space, orders);
  });
  if (body.made.is_exact && !model.options.points_given)
    model.options.discretisation.points = model.highest_order() + 4; // no map is a polynomial

  PfemMaterial material = document.material;
  if (material.elasticity.empty() && !material.young) {
    const bool is_file = document.mesh.kind == PfemSource::Kind::file;
    if (body.model.young > 0) {
      material.young = body.model.young;
      material.poisson = material.poisson.value_or(body.model.poisson);
    } else if (!is_file && document.materials.empty()) {
      material.young = 1;
    }
  }
  model.elasticity = elasticity_of(document, material, select, num_elem);
  hold_all(document, body, select, model);
  add_loads(document, body, select, model);
  if (body.made.exact && document.materials.empty() && material.elasticity.empty())
    model.exact = body.made.exact(*material.young, material.poisson.value_or(0.3));
  warn_of_quadrature(model);
  return model;
}

PfemModel make_pfem_model(const PfemCommandOptions& options, DriverContext& context) {
  const TimedScope scope("femura::pfem::read");
  PfemDocument document = make_pfem_document(options);
  std::vector<InputRecord>& inputs = context.provenance().inputs;
  if (options.is_json())
    inputs.push_back(record_input(options.problem));
  PfemOptions chosen;
  for (const auto& change : document.changes)
    change(chosen);
  using Kind = HierarchicOperatorKind;
  if (chosen.solver.element_wise &&
      (chosen.solver.preconditioner == HierarchicPreconditioner::vertex_stars ||
       (chosen.solver.kind != Kind::packed && chosen.solver.kind != Kind::automatic)))
    fail<UsageError>("--element-wise goes with --operator packed and --preconditioner jacobi or "
                     "none: leave it out, or these");
  const std::string mesh_file = document.mesh.file;
  PfemModel model = build_pfem_model(std::move(document));
  if (!mesh_file.empty())
    inputs.push_back(record_input(mesh_file));
  if (model.unused_points > 0)
    log_warning(model.source, ": ", format_count(model.unused_points),
                " points belong to no element and are left out");
  log_info(model.source, ": ", format_count(model.num_elem()), " elements, ",
           format_count(3 * std::int64_t(model.numbering.num_modes)), " dofs");
  return model;
}

} // namespace femura
