// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/hexa_parts.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/element_check.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace ossatura {
namespace {

constexpr std::int32_t unused = -1;

/// Turns the elements that are inside out; returns which were.
std::vector<bool> turn_all(const HexaParts& parts, ElementMesh& mesh) {
  std::vector<std::uint8_t> turned;
  const auto bad = turn_elements(mesh, &turned);
  if (!bad)
    return {turned.begin(), turned.end()};
  const std::int32_t* node = mesh.node.data() + 8 * bad->first;
  for (int a = 0; a < 8; ++a)
    if (std::find(node, node + a, node[a]) != node + a)
      fail<InputError>(parts.path, ": ", parts.elem_name(bad->first), ": the hexahedron has ",
                       parts.node_name(std::size_t(node[a])),
                       " twice: prisms, pyramids and tetrahedra written as hexahedra are not "
                       "solved; mesh with hexahedra alone");
  fail<InputError>(parts.path, ": ", parts.elem_name(bad->first), ": ", bad->second);
}

/// Takes the elements, which are to be of volume, each once.
SolidMesh take_solids(HexaParts& parts) {
  if (parts.node.size() >= std::size_t(std::numeric_limits<std::int32_t>::max()))
    fail<InputError>(parts.path, ": its elements have ", parts.node.size(),
                     " nodes, each counted for its elements; fewer than 2^31 - 1 are possible");
  SolidMesh mesh;
  mesh.point = std::move(parts.point);
  mesh.node = std::move(parts.node);
  mesh.kind = std::move(parts.kind);
  for (const SolidKind kind : mesh.kind)
    mesh.begin.push_back(mesh.begin.back() + nodes_per_elem(kind));
  constexpr std::size_t least = 1024;
  const auto bad = first_problem(
      mesh.kind.size(), least, [&](std::size_t elem) { return describe_bad_element(mesh, elem); });
  if (bad)
    fail<InputError>(parts.path, ": ", parts.elem_name(bad->first), ": ", bad->second);
  std::vector<std::int32_t> corners; // [num_elem, 8], those that lack are numbers of no node
  corners.reserve(8 * mesh.kind.size());
  for (std::size_t elem = 0; elem < mesh.kind.size(); ++elem) {
    const NodeRange nodes = mesh.nodes_of(elem);
    const int count = shape_of(mesh.kind[elem]).num_corners;
    for (int a = 0; a < 8; ++a)
      corners.push_back(a < count ? nodes[std::size_t(a)] : -1 - a);
  }
  if (const auto twice = find_duplicate_element(corners, 8))
    fail<InputError>(parts.path, ": ", parts.elem_name(twice->second), " has the same corners as ",
                     parts.elem_name(twice->first), duplicate_remedy);
  if (const auto misfit = find_misfit_face(mesh))
    fail<InputError>(parts.path, ": ", parts.elem_name(std::size_t(misfit->second)), " and ",
                     parts.elem_name(std::size_t(misfit->first)), " have a face in common ",
                     misfit->too_many ? "that a third element has, too: remove one of them"
                                      : "whose mid-nodes are not the same: mesh all that share "
                                        "faces with elements of one order, and merge their nodes");
  return mesh;
}

/// What linear elements, and reduced integration, do to a design is said once.
void note_kinds(const SolidMesh& mesh, std::vector<std::string>& notes) {
  const std::vector<std::size_t> count = count_kinds(mesh);
  for (const auto& [linear, better] : {std::pair(SolidKind::tetra4, SolidKind::tetra10),
                                       std::pair(SolidKind::prism6, SolidKind::prism15)})
    if (count[std::size_t(linear)] > 0)
      notes.push_back(std::string("elements of type ") + name_of(linear) +
                      " are far too stiff in bending, and thin members of a design bend: " +
                      name_of(better) + " of the same size are right");
  if (count[std::size_t(SolidKind::hexa20r)] > 0)
    notes.push_back("elements of type C3D20R have a motion without stiffness where one hangs on "
                    "others by a single face, as in members of a design that are one element "
                    "thick: C3D20 have none");
}

void add_pressure(const SolidMesh& mesh, const HexaPressure& load, std::vector<NodeForce>& forces) {
  const FaceOfElement face{load.elem, load.face};
  const auto unit = pressure_forces(mesh, face);
  const NodeRange nodes = mesh.nodes_of(std::size_t(load.elem));
  const SolidFaceNodes of_face = face_nodes(mesh.kind[std::size_t(load.elem)], load.face);
  for (int k = 0; k < of_face.num_nodes; ++k) {
    const std::size_t a = std::size_t(of_face.node[k]);
    forces.push_back(
        {nodes[a],
         {load.pressure * unit[a][0], load.pressure * unit[a][1], load.pressure * unit[a][2]}});
  }
}

/// The forces of a pressure on the corners of its face, by place in the file. Returns the corners.
std::array<std::int32_t, 4> add_pressure(const ElementMesh& mesh, const HexaPressure& load,
                                         bool turned, std::vector<NodeForce>& forces) {
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
  return {corner[0].node, corner[1].node, corner[2].node, corner[3].node};
}

/// Corners of a face, ascending; of a triangle behind a -1.
using FaceKey = std::array<std::int32_t, 4>;

/// The faces of an element, and its nodes.
struct ElementFaces {
  NodeRange nodes;
  const int (*corner)[4];
  int count;
  int turn = 0; ///< 4: bottom and top of the hexahedron were exchanged

  FaceKey key(int face) const {
    FaceKey key;
    for (std::size_t k = 0; k < 4; ++k)
      key[k] = corner[face][k] < 0 ? -1 : nodes[std::size_t(corner[face][k] ^ turn)];
    std::sort(key.begin(), key.end());
    return key;
  }
};

/// Refuses pressures on faces within the body, where they push a layer of elements into the next,
/// as P2 of a set of all does. faces_of(elem): its ElementFaces.
template<class FacesOf>
void require_outer_faces(const HexaParts& parts, std::size_t num_elem, std::size_t num_points,
                         const FacesOf& faces_of) {
  std::map<FaceKey, std::int32_t> pressed; // and their elements
  std::vector<bool> has_pressed(num_points);
  for (const HexaCase& one : parts.cases)
    for (const HexaPressure& load : one.pressures) {
      const FaceKey key = faces_of(std::size_t(load.elem)).key(load.face);
      pressed.emplace(key, load.elem);
      for (const std::int32_t n : key)
        if (n >= 0)
          has_pressed[std::size_t(n)] = true;
    }
  for (std::size_t elem = 0; elem < num_elem && !pressed.empty(); ++elem) {
    const ElementFaces faces = faces_of(elem);
    if (std::none_of(faces.nodes.begin(), faces.nodes.end(),
                     [&](std::int32_t n) { return has_pressed[std::size_t(n)]; }))
      continue;
    for (int face = 0; face < faces.count; ++face)
      if (const auto found = pressed.find(faces.key(face));
          found != pressed.end() && found->second != std::int32_t(elem))
        fail<InputError>(
            parts.path, ": a pressure acts on a face within the body, between ",
            parts.elem_name(std::size_t(found->second)), " and ", parts.elem_name(elem),
            ": give faces of the surface alone (one such as P2 of a set is that of each "
            "of its elements)");
  }
}

/// Forces on places, added up by their new numbers, ascending.
std::vector<NodeForce> add_up(std::vector<NodeForce> forces,
                              const std::vector<std::int32_t>& number) {
  std::stable_sort(forces.begin(), forces.end(),
                   [](const NodeForce& a, const NodeForce& b) { return a.node < b.node; });
  std::vector<NodeForce> sums;
  for (const NodeForce& f : forces) {
    const std::int32_t n = number[std::size_t(f.node)];
    if (sums.empty() || sums.back().node != n)
      sums.push_back({n, {}});
    for (int axis = 0; axis < 3; ++axis)
      sums.back().force[axis] += f.force[axis];
  }
  return sums;
}

/// The forces of a case by node, ascending, with `number` the new numbers of places; add(load,
/// forces) adds those of a pressure, and returns the places of its face, where it is one of a
/// hexahedron of eight nodes.
template<class Add>
NodeLoads make_loads(const HexaParts& parts, const std::vector<std::int32_t>& number,
                     HexaCase&& from, const Add& add) {
  std::vector<NodeForce> forces = std::move(from.forces);
  for (const NodeForce& f : forces)
    if (number[std::size_t(f.node)] == unused)
      fail<InputError>(parts.path, ": a force acts on ", parts.node_name(std::size_t(f.node)),
                       ", which no element has; let it act on nodes of the body");
  NodeLoads loads{std::move(from.name), {}};
  if (!from.pressures.empty())
    loads.point_forces = add_up(forces, number);
  for (const HexaPressure& load : from.pressures)
    if (const std::optional<std::array<std::int32_t, 4>> places = add(load, forces)) {
      FacePressure face{{}, load.pressure / (parts.unit * parts.unit)};
      for (std::size_t k = 0; k < 4; ++k)
        face.node[k] = number[std::size_t((*places)[k])];
      loads.pressures.push_back(face);
    }
  loads.forces = add_up(std::move(forces), number);
  for (const NodeDisplacement& u : from.displacements) {
    const std::int32_t n = number[std::size_t(u.node)];
    if (n == unused)
      fail<InputError>(parts.path, ": a displacement is imposed on ",
                       parts.node_name(std::size_t(u.node)),
                       ", which no element has; impose it on nodes of the body");
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
  if (!from.warming.empty())
    from.warming.resize(number.size()); // points may come after their step
  for (std::size_t p = 0; p < from.warming.size(); ++p)
    if (number[p] != unused)
      loads.warming.push_back(from.warming[p]); // numbers are in the order of places
  for (const NodeForce& f : loads.forces)
    for (const double component : f.force)
      if (!std::isfinite(component))
        fail<InputError>(parts.path, ": the forces of the case '", loads.name,
                         "' do not fit in 64 bits");
  return loads;
}

/// New numbers of the points that elements have, in the order of the file, and their count.
template<class Mesh>
std::vector<std::int32_t> number_points(const Mesh& mesh, std::int32_t& count) {
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

/// The same of faces and edges.
template<class Part>
std::vector<Part> renumbered_parts(std::vector<Part> parts,
                                   const std::vector<std::int32_t>& number) {
  for (Part& part : parts) {
    for (std::int32_t& corner : part)
      corner = number[std::size_t(corner)];
    std::sort(part.begin(), part.end());
  }
  std::sort(parts.begin(), parts.end());
  const auto has_unused = [](const Part& part) { return part[0] == unused; };
  parts.erase(std::remove_if(parts.begin(), parts.end(), has_unused), parts.end());
  return parts;
}

} // namespace

void add_held_set(const std::string& name, std::uint8_t components,
                  const std::vector<std::int32_t>& nodes, HeldParts& parts) {
  HeldPart& part = parts[{name, 0}];
  part.components = std::uint8_t(part.components | components);
  if (part.nodes.size() < nodes.size()) // sets only grow
    part.nodes = nodes;
}

void add_held_node(std::int64_t keyword, std::uint8_t components, std::int32_t node,
                   HeldParts& parts) {
  for (int c = 0; c < 3; ++c)
    if ((components >> c & 1) != 0) {
      HeldPart& part = parts[{"", 3 * keyword + c}];
      part.components = std::uint8_t(1 << c);
      part.nodes.push_back(node);
    }
}

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

namespace {

/// All of a model but its elements, from `mesh` in units of the file, whose points become those
/// that elements have, in m; add(load, forces) adds the forces of a pressure.
template<class Mesh, class Add>
HexaFile make_file(HexaParts&& parts, Mesh& mesh, const Add& add) {
  HexaFile file;
  HexaModel& model = file.model;
  std::int32_t num_points = 0;
  const std::vector<std::int32_t> number = number_points(mesh, num_points);
  for (HexaCase& from : parts.cases)
    model.loads.push_back(make_loads(parts, number, std::move(from), add));
  for (std::int32_t& n : mesh.node)
    n = number[std::size_t(n)];
  for (std::size_t p = 0; p < number.size(); ++p)
    if (number[p] != unused)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double x = mesh.point[3 * p + axis] * parts.unit;
        if (!std::isfinite(x))
          fail<InputError>(parts.path, ": ", parts.node_name(p),
                           ": a coordinate is not finite in m");
        mesh.point[3 * std::size_t(number[p]) + axis] = x;
      }
  mesh.point.resize(3 * std::size_t(num_points));
  file.unused_points = std::int64_t(number.size()) - num_points;
  for (std::size_t p = 0; p < parts.held.size(); ++p)
    if (parts.held[p] != 0 && number[p] != unused)
      model.held.push_back({number[p], parts.held[p]});
  for (auto& [key, part] : parts.held_parts)
    model.held_parts.push_back({part.components, renumbered(std::move(part.nodes), &number)});
  for (const std::vector<std::int32_t>& body : parts.rigid) {
    std::vector<std::int32_t>& nodes = model.rigid.emplace_back();
    for (const std::int32_t p : body)
      if (number[std::size_t(p)] != unused)
        nodes.push_back(number[std::size_t(p)]);
  }
  for (auto& [name, set] : parts.node_sets)
    model.node_sets[name] = renumbered(std::move(set), &number);
  for (const auto& [name, faces] : parts.face_sets)
    model.face_sets[name] = renumbered_parts(faces, number);
  for (const auto& [name, edges] : parts.edge_sets)
    model.edge_sets[name] = renumbered_parts(edges, number);
  for (auto& [name, set] : parts.elem_sets)
    model.elem_sets[name] = renumbered(std::move(set), nullptr);
  const double square = parts.unit * parts.unit;
  model.frequencies = std::move(parts.frequencies);
  model.young = parts.young / square;
  model.poisson = parts.poisson;
  model.materials = std::move(parts.materials);
  for (HexaMaterial& one : model.materials) {
    one.young /= square;
    one.density /= square * square; // forces stay: of mass times length by time^2
  }
  model.material = std::move(parts.material);
  file.notes = std::move(parts.notes);
  return file;
}

HexaFile make_file_of_solids(HexaParts&& parts) {
  SolidMesh mesh = take_solids(parts);
  note_kinds(mesh, parts.notes);
  require_outer_faces(parts, mesh.num_elem(), mesh.num_points(), [&mesh](std::size_t elem) {
    const SolidShape& shape = shape_of(mesh.kind[elem]);
    return ElementFaces{mesh.nodes_of(elem), shape.face, shape.num_faces};
  });
  HexaFile file =
      make_file(std::move(parts), mesh,
                [&](const HexaPressure& load,
                    std::vector<NodeForce>& forces) -> std::optional<std::array<std::int32_t, 4>> {
                  add_pressure(mesh, load, forces);
                  return {};
                });
  file.model.mesh.shape = ElementShape::hexa;
  file.model.solids = std::make_shared<const SolidMesh>(std::move(mesh));
  return file;
}

} // namespace

HexaFile make_hexa_file(HexaParts&& parts, std::vector<bool>* turned) {
  if (parts.node.empty())
    fail<InputError>(parts.path, ": has no elements with volume; mesh the body with these");
  if (std::any_of(parts.kind.begin(), parts.kind.end(),
                  [](SolidKind kind) { return kind != SolidKind::hexa8; }))
    return make_file_of_solids(std::move(parts));
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  mesh.point = std::move(parts.point);
  mesh.node = std::move(parts.node);
  const std::vector<bool> was_turned = turn_all(parts, mesh);
  if (const auto twice = find_duplicate_element(mesh.node, 8))
    fail<InputError>(parts.path, ": ", parts.elem_name(twice->second), " has the same nodes as ",
                     parts.elem_name(twice->first), duplicate_remedy);
  require_outer_faces(parts, mesh.num_elem(), mesh.num_points(), [&](std::size_t elem) {
    const std::int32_t* const first = mesh.node.data() + 8 * elem;
    return ElementFaces{{first, first + 8}, hexa_face, 6, was_turned[elem] ? 4 : 0};
  });
  HexaFile file =
      make_file(std::move(parts), mesh,
                [&](const HexaPressure& load,
                    std::vector<NodeForce>& forces) -> std::optional<std::array<std::int32_t, 4>> {
                  return add_pressure(mesh, load, was_turned[std::size_t(load.elem)], forces);
                });
  file.model.mesh = std::move(mesh);
  if (turned != nullptr)
    *turned = was_turned;
  return file;
}

} // namespace ossatura
