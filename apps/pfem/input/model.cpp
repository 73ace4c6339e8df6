// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/input/model.hpp"

#include "apps/driver/options/number_range.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/deck_units.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/driver/problem/split_mesh.hpp"
#include "apps/pfem/input/loading.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/curved_hexa_file.hpp>

#include <algorithm>

namespace ossatura {

namespace {

PfemInput load_input(const PfemSource& source, PfemModel& model) {
  PfemInput input;
  if (source.kind == PfemSource::Kind::generator) {
    try {
      input.body = generate_pfem(source);
    } catch (const std::invalid_argument& error) {
      fail<InputError>(source.generator, ": ", library_message(error));
    }
    return input;
  }
  ElementFileOptions options;
  options.unit = source.unit;
  CurvedHexaFile file = read_curved_hexa_file(source.file, options);
  for (const std::string& note : file.notes)
    log_warning("mesh-note", source.file, ": ", note);
  if (!file.model.rigid.empty())
    fail<InputError>(source.file, ": has free rigid bodies or kinematic couplings, which are not "
                                  "solved here: leave them out");
  if (file.model.frequencies)
    fail<InputError>(source.file, ": step '", file.model.frequencies->step,
                     "' asks for natural frequencies, which are not solved here: leave it out");
  for (const NodeLoads& loads : file.model.loads) {
    if (!loads.body.empty())
      fail<InputError>(source.file, ": load case '", loads.name,
                       "' has gravity or rotation, which are not solved here: leave them out");
    if (!loads.warming.empty())
      fail<InputError>(source.file, ": load case '", loads.name,
                       "' has temperatures, which are not solved here: leave them out");
    if (!loads.displacements.empty())
      fail<InputError>(
          source.file, ": load case '", loads.name,
          "' imposes displacements on nodes, which are not taken from meshes: give "
          "\"supports\" with a \"displacement\" in a .json problem, and leave them out "
          "of the mesh");
  }
  warn_of_deck_units(source.file, file.model.young);
  model.unused_points = file.unused_points;
  model.reference_points = file.reference_points;
  if (file.geometry.map)
    input.no_numbers = source.file + " has nodes that are no vertices of elements";
  else if (file.unused_points > 0)
    input.no_numbers = source.file + " has " + std::to_string(file.unused_points) +
                       " points without element, which are left out";
  input.body.shape = std::move(file.geometry);
  input.body.source = source.file;
  input.model = std::move(file.model);
  return input;
}

std::vector<std::uint8_t> orders_of(const PfemOrders& orders, const MeshSelector& select,
                                    std::size_t num_elem) {
  if (!orders.by_elem.empty() && orders.by_elem.size() != num_elem)
    fail<InputError>(orders.place, ": ", orders.by_elem.size(), " orders, but the mesh has ",
                     num_elem, " elements: give one for each");
  if (!orders.by_elem.empty())
    return orders.by_elem;
  const auto all = std::uint8_t(orders.all.value_or(default_pfem_order));
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
  return isotropic_elasticity(*material.young, material.poisson.value_or(default_pfem_poisson));
}

/// The material of elements that have none of their own; what of it the document leaves open is
/// that of the file, or of generators.
PfemMaterial common_material(const PfemDocument& document, const HexaModel& file,
                             const std::string& source) {
  PfemMaterial material = document.material;
  if (!material.elasticity.empty())
    return material;
  if (!file.is_uniform()) {
    if (document.is_material_of_options)
      fail<InputError>(document.file, ": ", source, " has elements of several materials: leave ",
                       document.material_option,
                       " out, and give \"materials\" of element sets in a .json problem");
    if (!material.young && document.materials.empty())
      fail<InputError>(source, ": has elements of several materials, which are not taken from "
                               "meshes: give \"materials\" of its element sets in a .json problem");
  } else if (file.young > 0) {
    material.young = material.young.value_or(file.young);
    material.poisson = material.poisson.value_or(file.poisson);
  } else if (!material.young && document.mesh.kind != PfemSource::Kind::file &&
             document.materials.empty()) {
    material.young = PfemGeneratorDefaults().young;
  }
  if (material.young)
    material.poisson = material.poisson.value_or(default_pfem_poisson);
  return material;
}

/// Sets elasticity and materials.
void set_elasticity(const PfemDocument& document, const PfemMaterial& all,
                    const MeshSelector& select, PfemModel& model) {
  const std::size_t num_elem = model.shape.mesh.num_elem();
  ElasticityField& field = model.elasticity;
  field.value = elasticity_of(all);
  if (!document.materials.empty()) {
    constexpr std::size_t n = elasticity_entries;
    const std::vector<double> rest = field.value;
    // By number, 0: the rest.
    std::vector<std::size_t> number(num_elem);
    field.value.resize(n * num_elem);
    for (std::size_t e = 0; e < num_elem && !rest.empty(); ++e)
      std::copy(rest.begin(), rest.end(), &field.value[n * e]);
    model.materials.emplace_back(all, 0);
    for (const PfemMaterialPart& part : document.materials) {
      const std::vector<double> d = elasticity_of(part.material);
      for (const std::int32_t e : select.elements(part.elements)) {
        std::copy(d.begin(), d.end(), &field.value[n * std::size_t(e)]);
        number[std::size_t(e)] = model.materials.size();
      }
      model.materials.emplace_back(part.material, 0);
    }
    const auto without = std::find(number.begin(), number.end(), 0);
    if (!document.material_option.empty() && without == number.end())
      fail<UsageError>(document.material_option, " has no effect: the \"materials\" of ",
                       document.file, " have all elements; leave it out, or change them");
    if (rest.empty() && without != number.end())
      fail<InputError>(document.file, ": element ", without - number.begin(), " and ",
                       std::count(number.begin(), number.end(), 0) - 1,
                       " others have no material: give a \"material\" for all that are not in "
                       "\"materials\"");
    for (const std::size_t one : number)
      ++model.materials[one].second;
  } else if (field.value.empty()) {
    fail<InputError>(document.file,
                     ": the material is missing: the mesh has no elastic constants: give "
                     "\"material\" with \"young\" and \"poisson\", or --young and --poisson");
  } else {
    model.materials.emplace_back(all, std::int64_t(num_elem));
  }
}

/// What surprises: the rule of the paper does not hold an element of order 2.
void warn_of_quadrature(const PfemModel& model) {
  const HierarchicOptions& o = model.options.discretisation;
  for (const auto& [order, count] : model.elements_by_order()) {
    const int points = o.points > 0 ? o.points : quadrature_points(o.rule, order);
    if (points < order + 1)
      log_warning("too-few-points", points,
                  " quadrature points along each axis are too few for the ", count,
                  " elements of order ", order, ", whose matrices are inexact",
                  order == 2 ? " and have motions without energy that are not rigid" : "",
                  ": choose --quadrature p+1");
  }
}

/// Modes of high order bend without changing volumes; those of low order hardly do.
void warn_of_locking(const PfemDocument& document, const PfemMaterial& all,
                     const PfemModel& model) {
  constexpr double most = 0.49, most_at_all = 0.4999; // the matrix itself degenerates above
  constexpr int enough = 4;
  double poisson = all.young ? all.poisson.value_or(default_pfem_poisson) : 0;
  for (const PfemMaterialPart& part : document.materials)
    if (part.material.young)
      poisson = std::max(poisson, part.material.poisson.value_or(default_pfem_poisson));
  const int lowest = model.elements_by_order().begin()->first;
  if (poisson > most && (lowest < enough || poisson > most_at_all))
    log_warning("locking", document.file, ": Poisson's ratio is ", poisson, ", elements of order ",
                lowest,
                ": displacements may be far too small (locking). Take order 4 or more and at most ",
                most_at_all, ", or compare with a finer mesh");
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

PfemModel build_pfem_model(const PfemDocument& document) {
  PfemModel model;
  PfemInput input = load_input(document.mesh, model);
  if (document.supports || document.loads) { // a problem of its own
    input.body.supports.clear();
    input.body.loads.clear();
    input.body.exact = nullptr;
  }
  model.shape = std::move(input.body.shape);
  model.source = input.body.source;
  require_body_size(model.source, model.shape.mesh.point);
  const auto checked = [&model](const auto& make) {
    try {
      return make();
    } catch (const std::invalid_argument& error) {
      fail<InputError>(model.source, ": ", library_message(error));
    }
  };
  model.entities = checked([&] { return make_hexa_entities(model.shape.mesh); });
  MeshTraits traits;
  traits.node = "vertex";
  if (!input.no_numbers.empty())
    traits.no_numbers = "numbers of vertices and elements mean nothing here, because " +
                        input.no_numbers + ": choose by places or sets";
  const MeshSelector select(model.shape.mesh, input.model.node_sets, input.model.elem_sets, traits);
  document.changes.apply_to(model.options);
  const std::vector<std::uint8_t> orders =
      orders_of(document.orders, select, model.shape.mesh.num_elem());
  model.numbering = checked([&] {
    return make_hierarchic_numbering(model.shape.mesh, model.entities, model.options.space, orders);
  });
  if (input.body.is_exact && !model.options.points_given)
    model.options.discretisation.points = model.highest_order() + 4; // no map is a polynomial

  const PfemMaterial material = common_material(document, input.model, model.source);
  set_elasticity(document, material, select, model);
  if (document.mesh.kind == PfemSource::Kind::file)
    warn_of_split_mesh(model.source, model.shape.mesh);
  add_pfem_supports(document, input, select, model);
  add_pfem_loads(document, input, select, model);
  if (input.body.exact && document.materials.empty() && material.elasticity.empty())
    model.exact = input.body.exact(*material.young, *material.poisson);
  require_numbers(document.file, "elastic constants", model.elasticity.value);
  require_numbers(document.file, "forces", model.force);
  require_numbers(document.file, "displacements", model.displacement);
  if (document.mesh.kind == PfemSource::Kind::file && !document.mesh.says_unit)
    warn_of_mesh_unit(
        model.source, bounding_box(model.shape.mesh.point),
        *std::max_element(model.elasticity.value.begin(), model.elasticity.value.end()));
  warn_of_quadrature(model);
  warn_of_locking(document, material, model);
  return model;
}

namespace {

/// Refuses what does not go with the block-diagonal scheme: of the command line, or of the problem
/// alone.
void require_element_wise(const PfemCommandOptions& options, const PfemDocument& document) {
  using Kind = HierarchicOperatorKind;
  const HierarchicSolverOptions chosen = document.changes.applied().solver, defaults;
  if (!chosen.element_wise || ((chosen.preconditioner == HierarchicPreconditioner::jacobi ||
                                chosen.preconditioner == HierarchicPreconditioner::none) &&
                               (chosen.kind == Kind::packed || chosen.kind == Kind::automatic)))
    return;
  const HierarchicSolverOptions given = options.changes.applied().solver;
  if (given.element_wise || given.kind != defaults.kind ||
      given.preconditioner != defaults.preconditioner)
    fail<UsageError>("--element-wise goes with --operator packed and --preconditioner jacobi or "
                     "none: leave it out, or these");
  fail<InputError>(document.file, ": solver.element_wise: goes with the operator packed and the "
                                  "preconditioner jacobi or none: leave it out, or these");
}

} // namespace

PfemModel make_pfem_model(const PfemCommandOptions& options, DriverContext& context) {
  const TimedScope scope("ossatura::pfem::read");
  const PfemDocument document = make_pfem_document(options);
  std::vector<FileRecord>& inputs = context.provenance().inputs;
  if (options.kind() == ProblemKind::json)
    inputs.push_back(record_input(options.problem));
  require_element_wise(options, document);
  PfemModel model = build_pfem_model(document);
  if (!document.mesh.file.empty())
    inputs.push_back(record_input(document.mesh.file));
  if (model.unused_points > model.reference_points)
    log_warning("unused-points", model.source, ": ",
                format_count(model.unused_points - model.reference_points),
                " points belong to no element and are left out");
  log_info(model.source, ": ", format_count(model.num_elem()), " elements, ",
           format_count(3 * std::int64_t(model.numbering.num_modes)), " dofs");
  return model;
}

} // namespace ossatura
