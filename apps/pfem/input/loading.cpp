// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/input/loading.hpp"

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/pfem/hinges.hpp>
#include <ossatura/solvers/pfem/held_loads.hpp>
#include <ossatura/solvers/pfem/loads.hpp>
#include <ossatura/solvers/pfem/reactions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

namespace ossatura {

namespace {

/// Vertices of a part of the boundary, and the faces whose vertices are all among them.
struct BoundaryPart {
  std::vector<std::int32_t> vertices; ///< ascending
  std::vector<ElementFace> faces;
};

std::vector<std::uint8_t> mark(const PfemModel& model, const std::vector<std::int32_t>& vertices) {
  std::vector<std::uint8_t> chosen(std::size_t(model.num_vertices()));
  for (const std::int32_t vertex : vertices)
    chosen[std::size_t(vertex)] = 1;
  return chosen;
}

BoundaryPart boundary_part(const PfemModel& model, std::vector<std::int32_t> vertices,
                           const std::vector<FaceCorners>* among) {
  BoundaryPart part;
  part.faces = whole_boundary_faces(model.shape.mesh, model.entities, mark(model, vertices), among);
  part.vertices = std::move(vertices);
  return part;
}

/// Holds components of modes, with constant displacements.
void hold_modes(const PfemSupport& support, const std::vector<std::int32_t>& modes,
                PfemModel& model) {
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
}

/// Holds a part of the boundary as a problem has it.
void hold(const std::string& file, const PfemSupport& support, std::vector<std::int32_t> vertices,
          const HexaModel& sets, PfemModel& model) {
  const std::vector<std::uint8_t> chosen = mark(model, vertices);
  const std::vector<FaceCorners>* faces = faces_of_set(sets.face_sets, support.where);
  const std::vector<EdgeEnds>* edges = edges_of_set(sets.edge_sets, support.where);
  hold_modes(
      support,
      modes_of_boundary(model.shape.mesh, model.entities, model.numbering, chosen, faces, edges),
      model);
  model.supports.push_back({place_within(file, support.where.place), support.components,
                            std::move(vertices),
                            lone_vertices(model.shape.mesh, model.entities, chosen, faces, edges)});
}

/// Vertices that a mesh file holds along c, by what it holds together.
std::vector<std::vector<std::int32_t>> parts_held(const HexaModel& file, int c,
                                                  std::size_t num_vertices) {
  std::vector<std::uint8_t> is_held(num_vertices), is_of_part(num_vertices);
  for (const HeldComponents& node : file.held)
    is_held[std::size_t(node.node)] = node.components >> c & 1;
  std::vector<std::vector<std::int32_t>> parts;
  for (const HeldPart& part : file.held_parts) {
    if ((part.components >> c & 1) == 0)
      continue;
    parts.emplace_back();
    for (const std::int32_t node : part.nodes)
      if (is_held[std::size_t(node)] != 0) {
        parts.back().push_back(node);
        is_of_part[std::size_t(node)] = 1;
      }
  }
  std::vector<std::int32_t> rest;
  for (std::size_t node = 0; node < num_vertices; ++node)
    if (is_held[node] != 0 && is_of_part[node] == 0)
      rest.push_back(std::int32_t(node));
  parts.push_back(std::move(rest));
  return parts;
}

/// Holds what a mesh file does. Its rows are not united: where two of them hold an edge each, the
/// face between these is free.
void hold_as_in_mesh(const std::string& file, const HexaModel& mesh, PfemModel& model) {
  const auto num_vertices = std::size_t(model.num_vertices());
  for (int c = 0; c < 3; ++c) {
    PfemSupport support;
    support.where.place = model.source + ": held along " + "xyz"[c];
    support.components = std::uint8_t(1 << c);
    std::vector<std::int32_t> all, joined;
    for (const std::vector<std::int32_t>& part : parts_held(mesh, c, num_vertices)) {
      all.insert(all.end(), part.begin(), part.end());
      if (part.size() < 2) { // often one of many: no edges
        hold_modes(support, part, model);
        continue;
      }
      const std::vector<std::uint8_t> chosen = mark(model, part);
      hold_modes(support,
                 modes_of_boundary(model.shape.mesh, model.entities, model.numbering, chosen),
                 model);
      const std::vector<std::int32_t> lone =
          lone_vertices(model.shape.mesh, model.entities, chosen);
      std::set_difference(part.begin(), part.end(), lone.begin(), lone.end(),
                          std::back_inserter(joined));
    }
    if (all.empty())
      continue;
    for (std::vector<std::int32_t>* list : {&all, &joined}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    std::vector<std::int32_t> points;
    std::set_difference(all.begin(), all.end(), joined.begin(), joined.end(),
                        std::back_inserter(points));
    model.supports.push_back({place_within(file, support.where.place), support.components,
                              std::move(all), std::move(points)});
  }
}

/// Quadrature points along each axis for loads.
int load_points(const PfemModel& model) {
  const int order = model.highest_order();
  const HierarchicOptions& o = model.options.discretisation;
  return std::max(o.points > 0 ? o.points : quadrature_points(o.rule, order), order + 2);
}

void warn_of_point_forces(const std::string& place, std::size_t count, const PfemModel& model) {
  if (has_point_forces(count, model.highest_order()))
    log_warning(
        "point-forces", place, ": ", count,
        count == 1 ? " vertex has a force of its own" : " vertices have forces of their own",
        ", and elements are of order ", model.highest_order(),
        ": the energy of a force on a point grows with the order without a limit; spread it "
        "over faces, as a pressure (*DLOAD, *DSLOAD, SFE) or as \"traction\" of a .json "
        "problem");
}

/// Of an acceleration that was given for a weight by volume. Moduli near 1 stand for units.
void warn_of_body_force(const PfemLoad& load, const PfemModel& model) {
  constexpr double least_gravity = 9.7, greatest_gravity = 10, of_units = 1000; // m/s^2, Pa
  const auto& [x, y, z] = load.value;
  const double density = std::hypot(x, y, z);
  const std::vector<double>& moduli = model.elasticity.value;
  if (density >= least_gravity && density <= greatest_gravity &&
      *std::max_element(moduli.begin(), moduli.end()) > of_units)
    log_warning(
        "odd-gravity", load.place, ": a body force of ", density,
        " N/m3 is the weight of air: it is not the acceleration of gravity, but the density "
        "times it, 77000 for steel");
}

/// Adds the nodal forces of a load to `force` [num_modes, 3], and what of them is lost to `held`.
void add_load(const PfemDocument& document, const PfemLoad& load, const HexaModel& file,
              const MeshSelector& select, PfemModel& model, std::vector<double>& force,
              HeldLoads& held) {
  const ModeScaling scaling = model.options.discretisation.scaling;
  const int points = load_points(model);
  const std::array<double, 3> value = load.value;
  using Kind = PfemLoad::Kind;
  if (load.kind == Kind::body_force) {
    warn_of_body_force(load, model);
    add_body_force(
        model.shape, model.numbering, scaling, points,
        [value](const double(&)[3], double(&density)[3]) {
          std::copy(value.begin(), value.end(), density);
        },
        force);
    return;
  }
  const std::vector<FaceCorners>* faces = faces_of_set(file.face_sets, load.where);
  const BoundaryPart part = boundary_part(model, select.nodes(load.where), faces);
  if (load.kind == Kind::force) {
    for (const std::int32_t vertex : part.vertices) {
      for (std::size_t c = 0; c < 3; ++c)
        force[3 * std::size_t(vertex) + c] += value[c];
      add_held_force(vertex, value, model.held, held);
    }
    warn_of_point_forces(load.place, part.vertices.size(), model);
    return;
  }
  require_faces(load.where, faces, load.place, "a \"force\" on each vertex");
  if (part.faces.empty())
    fail<InputError>(load.place,
                     ": none of the faces of the boundary has all of its four vertices among the ",
                     part.vertices.size(), " chosen ones: choose more, or a \"force\" on each");
  require_on_boundary(load.where, faces, part.faces.size(), load.place);
  if (load.where.kind == MeshSelection::Kind::box) {
    const BoxFaces area = measure_box_faces(model.shape.mesh, part.vertices, load.where.box);
    model.loaded_boxes.push_back({place_within(document.file, load.place), area});
    warn_of_box_between_nodes(load.place, area);
  }
  const bool is_pressure = load.kind == Kind::pressure;
  add_held_tractions(model.shape, part.faces, is_pressure, value, model.held, held);
  add_traction(
      model.shape, model.numbering, scaling, points, part.faces,
      [value, is_pressure](const double(&)[3], const double(&normal)[3], double(&traction)[3]) {
        for (std::size_t c = 0; c < 3; ++c)
          traction[c] = is_pressure ? -value[0] * normal[c] : value[c];
      },
      force);
}

/// Adds the pressures of a file to `force` [num_modes, 3], integrated with all modes of the faces.
void add_pressures(const NodeLoads& step, const PfemModel& model, std::vector<double>& force,
                   HeldLoads& held) {
  std::map<std::array<std::int32_t, 4>, ElementFace> by_nodes;
  for (const ElementFace& face : boundary_faces(model.entities)) {
    std::array<std::int32_t, 4> nodes = vertices_of(model.shape.mesh, face);
    std::sort(nodes.begin(), nodes.end());
    by_nodes.emplace(nodes, face);
  }
  std::map<double, std::vector<ElementFace>> faces;
  for (const FacePressure& load : step.pressures) {
    std::array<std::int32_t, 4> nodes = load.node;
    std::sort(nodes.begin(), nodes.end());
    faces[load.pressure].push_back(by_nodes.at(nodes)); // readers refuse others
  }
  for (const auto& [pressure, pressed] : faces) {
    add_held_tractions(model.shape, pressed, true, {pressure}, model.held, held);
    add_traction(
        model.shape, model.numbering, model.options.discretisation.scaling, load_points(model),
        pressed,
        [value = pressure](const double(&)[3], const double(&normal)[3], double(&traction)[3]) {
          for (std::size_t c = 0; c < 3; ++c)
            traction[c] = -value * normal[c];
        },
        force);
  }
}

/// Adds the forces of one load [num_modes, 3] to those of the model. Whether they move it; warns of
/// a load that the supports take at once, whole or in part.
bool add_forces(const std::string& place, const std::vector<double>& force, const HeldLoads& held,
                PfemModel& model) {
  bool is_load = false, acts = false;
  for (std::size_t i = 0; i < force.size(); ++i) {
    if (force[i] == 0)
      continue;
    is_load = true;
    acts = acts || (model.held[i / 3] >> (i % 3) & 1) == 0;
    model.force[i] += force[i];
  }
  if (is_load && !acts)
    log_warning("lost-load", place,
                ": all of its forces act where the body is held, and do nothing: load others, or "
                "free these");
  else if (held.is_part())
    log_warning("lost-load", place, ": ", held.lost, " of ", held.components,
                " components of forces act where the body is held, and do nothing (vertex ",
                held.first_lost, " is the first): load others, or free these");
  return acts;
}

/// Refuses displacements that strain nothing, where no forces do.
void refuse_idle_displacements(const std::string& file, const PfemModel& model) {
  std::vector<NodeDisplacement> held;
  for (std::size_t i = 0; i < 3 * std::size_t(model.num_vertices()); ++i)
    if ((model.held[i / 3] >> (i % 3) & 1) != 0)
      held.push_back({std::int32_t(i / 3), int(i % 3), model.displacement[i]});
  if (is_rigid_motion(model.shape.mesh.point, held))
    fail<InputError>(file, ": the displacements of supports move the body as a rigid body, which "
                           "strains nothing: hold some of them in place of moving them, or move "
                           "them against others");
}

/// Refuses loads that turn elements about an edge or a corner, which no iteration would end for.
void refuse_hinges(const std::string& file, const PfemModel& model) {
  const std::optional<std::int32_t> hinge =
      find_loaded_hinge(model.shape, model.entities, model.numbering, model.held, model.force);
  if (!hinge)
    return;
  const double* x = &model.shape.mesh.point[3 * std::size_t(*hinge)];
  fail<InputError>(file, ": what the loads push can turn about vertex ", *hinge, " at ", x[0], ", ",
                   x[1], ", ", x[2],
                   ", where elements touch others along an edge or in a corner alone, which is a "
                   "hinge: join them by faces, or hold more vertices");
}

} // namespace

void add_pfem_supports(const PfemDocument& document, const PfemInput& input,
                       const MeshSelector& select, PfemModel& model) {
  model.held.assign(std::size_t(model.numbering.num_modes), 0);
  model.displacement.assign(3 * model.held.size(), 0);
  for (const PfemSupport& support : document.supports ? *document.supports : input.body.supports)
    hold(document.file, support, select.nodes(support.where), input.model, model);
  if (!document.supports)
    hold_as_in_mesh(document.file, input.model, model);
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

void add_pfem_loads(const PfemDocument& document, const PfemInput& input,
                    const MeshSelector& select, PfemModel& model) {
  model.force.assign(3 * model.held.size(), 0);
  const std::vector<PfemLoad>& loads = document.loads ? *document.loads : input.body.loads;
  bool acts = false;
  for (const PfemLoad& load : loads) {
    std::vector<double> force(model.force.size());
    HeldLoads held;
    add_load(document, load, input.model, select, model, force, held);
    acts = add_forces(load.place, force, held, model) || acts;
  }
  model.num_loads = loads.size();
  if (!document.loads) {
    std::vector<std::string> names;
    for (const NodeLoads& step : input.model.loads) {
      if (step.forces.empty())
        continue;
      names.push_back(step.name);
      const std::string place = model.source + ": load case '" + step.name + '\'';
      std::vector<double> force(model.force.size());
      const bool has_faces = !step.pressures.empty();
      const std::vector<NodeForce>& points = has_faces ? step.point_forces : step.forces;
      HeldLoads held;
      for (const NodeForce& node : points) {
        for (std::size_t c = 0; c < 3; ++c)
          force[3 * std::size_t(node.node) + c] += node.force[c];
        add_held_force(node.node, {node.force[0], node.force[1], node.force[2]}, model.held, held);
      }
      if (has_faces)
        add_pressures(step, model, force, held);
      warn_of_point_forces(place, points.size(), model);
      acts = add_forces(place, force, held, model) || acts;
    }
    if (names.size() > 1)
      fail<InputError>(model.source, ": ", names.size(), " load cases ('", names[0], "', '",
                       names[1],
                       "', ...), and one is solved here: give \"loads\" in a .json "
                       "problem");
    model.num_loads += names.size();
  }
  const auto is_zero = [](double x) { return x == 0; };
  if (!acts && std::all_of(model.displacement.begin(), model.displacement.end(), is_zero))
    fail<InputError>(document.file,
                     std::all_of(model.force.begin(), model.force.end(), is_zero)
                         ? ": there are no loads"
                         : ": no load acts where the body is free",
                     ": give \"loads\", or supports with a \"displacement\", in a .json problem");
  if (!acts)
    refuse_idle_displacements(document.file, model);
  refuse_hinges(document.file, model);
}

} // namespace ossatura
