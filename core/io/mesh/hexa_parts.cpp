// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/hexa_parts.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/mesh/element_check.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace ossatura {
namespace {

constexpr std::int32_t unused = -1;

/// Turns the elements that are inside out; returns which were.
std::vector<bool> turn_elements(const HexaParts& parts, ElementMesh& mesh) {
  std::vector<bool> turned(mesh.num_elem());
  for (std::size_t elem = 0; elem < mesh.num_elem(); ++elem) {
    const std::int32_t* node = mesh.node.data() + 8 * elem;
    for (int a = 0; a < 8; ++a)
      if (std::find(node, node + a, node[a]) != node + a)
        fail<InputError>(parts.path, ": ", parts.elem_name(elem), ": the hexahedron has ",
                         parts.node_name(std::size_t(node[a])),
                         " twice: prisms, pyramids and tetrahedra written as hexahedra are not "
                         "solved; mesh with hexahedra alone");
    const std::int32_t first = node[0];
    const std::string problem = turn_element(mesh, elem);
    if (!problem.empty())
      fail<InputError>(parts.path, ": ", parts.elem_name(elem), ": ", problem);
    turned[elem] = node[0] != first;
  }
  return turned;
}

/// The forces of a pressure on the corners of its face, by place in the file.
void add_pressure(const ElementMesh& mesh, const HexaPressure& load, bool turned,
                  std::vector<NodeForce>& forces) {
  NodeForce corner[4] = {};
  double x[4][3];
  for (std::size_t k = 0; k < 4; ++k) {
    // Turned elements have bottom and top exchanged.
    const int local = hexa_face[load.face][k];
    corner[k].node =
        mesh.node[8 * std::size_t(load.elem) + std::size_t(turned ? local ^ 4 : local)];
    for (std::size_t axis = 0; axis < 3; ++axis)
      x[k][axis] = mesh.point[3 * std::size_t(corner[k].node) + axis];
  }
  constexpr int sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  const double pressure = turned ? -load.pressure : load.pressure;
  for (const auto& gauss : sign) {
    double weight[4], along[2][3] = {};
    for (int k = 0; k < 4; ++k) {
      const double u = 1 + sign[k][0] * gauss[0] / std::sqrt(3.0);
      const double v = 1 + sign[k][1] * gauss[1] / std::sqrt(3.0);
      weight[k] = 0.25 * u * v;
      for (int axis = 0; axis < 3; ++axis) {
        along[0][axis] += 0.25 * sign[k][0] * v * x[k][axis];
        along[1][axis] += 0.25 * sign[k][1] * u * x[k][axis];
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      const int b = (axis + 1) % 3, c = (axis + 2) % 3;
      const double normal = along[0][b] * along[1][c] - along[0][c] * along[1][b];
      for (int k = 0; k < 4; ++k)
        corner[k].force[axis] -= pressure * weight[k] * normal;
    }
  }
  forces.insert(forces.end(), corner, corner + 4);
}

/// The forces of a case by node, ascending, with `number` the new numbers of places.
NodeLoads make_loads(const HexaParts& parts, const ElementMesh& mesh,
                     const std::vector<bool>& turned, const std::vector<std::int32_t>& number,
                     HexaCase&& from) {
  std::vector<NodeForce> forces = std::move(from.forces);
  for (const NodeForce& f : forces)
    if (number[std::size_t(f.node)] == unused)
      fail<InputError>(parts.path, ": a force acts on ", parts.node_name(std::size_t(f.node)),
                       ", which no hexahedron has; let it act on nodes of the body");
  for (const HexaPressure& load : from.pressures)
    add_pressure(mesh, load, turned[std::size_t(load.elem)], forces);
  std::stable_sort(forces.begin(), forces.end(),
                   [](const NodeForce& a, const NodeForce& b) { return a.node < b.node; });
  NodeLoads loads{std::move(from.name), {}};
  for (const NodeForce& f : forces) {
    const std::int32_t n = number[std::size_t(f.node)];
    if (loads.forces.empty() || loads.forces.back().node != n)
      loads.forces.push_back({n, {}});
    for (int axis = 0; axis < 3; ++axis)
      loads.forces.back().force[axis] += f.force[axis];
  }
  for (const NodeDisplacement& u : from.displacements) {
    const std::int32_t n = number[std::size_t(u.node)];
    if (n == unused)
      fail<InputError>(parts.path, ": a displacement is imposed on ",
                       parts.node_name(std::size_t(u.node)),
                       ", which no hexahedron has; impose it on nodes of the body");
    loads.displacements.push_back({n, u.component, u.value * parts.unit});
    if (!std::isfinite(loads.displacements.back().value))
      fail<InputError>(parts.path, ": ", parts.node_name(std::size_t(u.node)),
                       ": a displacement is not finite in m");
  }
  loads.body = std::move(from.body);
  for (BodyLoad& load : loads.body)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      load.acceleration[axis] *= parts.unit;
      load.origin[axis] *= parts.unit;
    }
  for (const NodeForce& f : loads.forces)
    for (const double component : f.force)
      if (!std::isfinite(component))
        fail<InputError>(parts.path, ": the forces of the case '", loads.name,
                         "' do not fit in 64 bits");
  return loads;
}

/// New numbers of the points that elements have, in the order of the file, and their count.
std::vector<std::int32_t> number_points(const ElementMesh& mesh, std::int32_t& count) {
  std::vector<std::int32_t> number(mesh.num_points(), unused);
  for (const std::int32_t n : mesh.node)
    number[std::size_t(n)] = 0;
  count = 0;
  for (std::int32_t& n : number)
    if (n != unused)
      n = count++;
  return number;
}

/// Ascending, each once, without unused members.
std::vector<std::int32_t> renumbered(std::vector<std::int32_t>&& set,
                                     const std::vector<std::int32_t>* number) {
  if (number != nullptr) {
    for (std::int32_t& n : set)
      n = (*number)[std::size_t(n)];
    set.erase(std::remove(set.begin(), set.end(), unused), set.end());
  }
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return std::move(set);
}

} // namespace

HexaParts make_numbered_parts(std::string path, double unit, const NumberMap& nodes,
                              const NumberMap& elems) {
  HexaParts parts;
  parts.path = std::move(path);
  parts.unit = unit;
  parts.node_name = [&nodes](std::size_t place) {
    return "node " + std::to_string(nodes.number(place));
  };
  parts.elem_name = [&elems](std::size_t place) {
    return "element " + std::to_string(elems.number(place));
  };
  return parts;
}

HexaFile make_hexa_file(HexaParts&& parts, std::vector<bool>* turned) {
  if (parts.node.empty())
    fail<InputError>(parts.path, ": has no hexahedra; mesh the body with these");
  HexaFile file;
  HexaModel& model = file.model;
  model.mesh.shape = ElementShape::hexa;
  model.mesh.point = std::move(parts.point); // in units of the file up to the loads
  model.mesh.node = std::move(parts.node);
  const std::vector<bool> was_turned = turn_elements(parts, model.mesh);
  if (const auto twice = find_duplicate_element(model.mesh.node, 8))
    fail<InputError>(parts.path, ": ", parts.elem_name(twice->second), " has the same nodes as ",
                     parts.elem_name(twice->first), duplicate_remedy);
  std::int32_t num_points = 0;
  const std::vector<std::int32_t> number = number_points(model.mesh, num_points);
  for (HexaCase& from : parts.cases)
    model.loads.push_back(make_loads(parts, model.mesh, was_turned, number, std::move(from)));
  for (std::int32_t& n : model.mesh.node)
    n = number[std::size_t(n)];
  for (std::size_t p = 0; p < number.size(); ++p)
    if (number[p] != unused)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double x = model.mesh.point[3 * p + axis] * parts.unit;
        if (!std::isfinite(x))
          fail<InputError>(parts.path, ": ", parts.node_name(p),
                           ": a coordinate is not finite in m");
        model.mesh.point[3 * std::size_t(number[p]) + axis] = x;
      }
  model.mesh.point.resize(3 * std::size_t(num_points));
  file.unused_points = std::int64_t(number.size()) - num_points;
  for (std::size_t p = 0; p < parts.held.size(); ++p)
    if (parts.held[p] != 0 && number[p] != unused)
      model.held.push_back({number[p], parts.held[p]});
  for (auto& [name, set] : parts.node_sets)
    model.node_sets[name] = renumbered(std::move(set), &number);
  for (auto& [name, set] : parts.elem_sets)
    model.elem_sets[name] = renumbered(std::move(set), nullptr);
  const double square = parts.unit * parts.unit;
  model.young = parts.young / square;
  model.poisson = parts.poisson;
  model.materials = std::move(parts.materials);
  for (HexaMaterial& one : model.materials) {
    one.young /= square;
    one.density /= square * square; // forces stay: of mass times length by time^2
  }
  model.material = std::move(parts.material);
  file.notes = std::move(parts.notes);
  if (turned != nullptr)
    *turned = was_turned;
  return file;
}

} // namespace ossatura
