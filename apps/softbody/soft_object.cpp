// SPDX-License-Identifier: Apache-2.0
// One object of a scene: its mesh in place, and what boxes select of it.
#include "apps/driver/table.hpp"
#include "apps/softbody/softbody_model.hpp"
#include "core/element_generators.hpp"
#include "core/io/element_file.hpp"
#include "core/require.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femura {

namespace {

using Box = std::array<double, 6>;

const char* plural_of(ElementShape shape) {
  return shape == ElementShape::triangle ? "triangles"
         : shape == ElementShape::tetra  ? "tetrahedra"
                                         : "hexahedra";
}

ElementMesh make_mesh(const MeshChoice& choice, std::int64_t& unused_points) {
  const auto& size = choice.size;
  unused_points = 0;
  switch (choice.kind) {
  case MeshChoice::Kind::cloth:
    return make_cloth(choice.count[0], choice.count[1], size[0], size[1]);
  case MeshChoice::Kind::hexa_box:
    return make_hexa_box(choice.count, size);
  case MeshChoice::Kind::tetra_box:
    return make_tetra_box(choice.count, size);
  case MeshChoice::Kind::ellipsoid:
    return make_tetra_ellipsoid(size, choice.count[0]);
  case MeshChoice::Kind::file:
    break;
  }
  ElementFileOptions options;
  options.unit = choice.unit;
  ElementFile file = read_element_mesh(choice.file, options);
  unused_points = file.unused_points;
  return std::move(file.mesh);
}

/// Scales, turns about the axis through the origin, moves (Rodrigues' formula).
void place(const ObjectChoice& choice, std::vector<double>& point) {
  std::array<double, 3> k = choice.axis;
  const double length = std::hypot(k[0], k[1], k[2]);
  for (double& component : k)
    component /= length;
  const double angle = choice.degrees * std::acos(-1.0) / 180;
  const double c = std::cos(angle), s = std::sin(angle);
  for (std::size_t i = 0; i + 2 < point.size(); i += 3) {
    double* const x = &point[i];
    const double p[3] = {choice.scale * x[0], choice.scale * x[1], choice.scale * x[2]};
    const double along = k[0] * p[0] + k[1] * p[1] + k[2] * p[2];
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
      const double turned =
          choice.degrees == 0 ? p[d]
                              : c * p[d] + s * (k[e] * p[f] - k[f] * p[e]) + (1 - c) * along * k[d];
      x[d] = turned + choice.translation[d];
    }
  }
}

Box bounding_box(const std::vector<double>& point) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Box box{infinity, infinity, infinity, -infinity, -infinity, -infinity};
  for (std::size_t i = 0; i < point.size(); ++i) {
    box[i % 3] = std::min(box[i % 3], point[i]);
    box[i % 3 + 3] = std::max(box[i % 3 + 3], point[i]);
  }
  return box;
}

/// Finds what lies in boxes, surfaces included and rounding allowed for.
class Selector {
public:
  Selector(const ElementMesh& mesh, const MeshChoice& source, std::int64_t unused_points)
      : mesh_(mesh)
      , source_(source)
      , unused_points_(unused_points)
      , bounds_(bounding_box(mesh.point))
      , slack_(1e-9 * std::hypot(bounds_[3] - bounds_[0], bounds_[4] - bounds_[1],
                                 bounds_[5] - bounds_[2])) {}

  std::vector<std::int32_t> nodes(const NodeSelection& choice) const {
    if (!choice.box) {
      if (unused_points_ > 0)
        fail<InputError>(choice.place, ": ", source_.file, " has ", unused_points_,
                         " points without element, which are left out, so that its numbers of "
                         "nodes are not those of the file: choose by boxes, or clean the mesh");
      for (const std::int32_t node : choice.nodes)
        if (std::size_t(node) >= mesh_.num_points())
          fail<InputError>(choice.place, ": node ", node, " is not in the mesh, whose last one is ",
                           mesh_.num_points() - 1);
      return choice.nodes;
    }
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < mesh_.num_points(); ++i)
      if (has(*choice.box, &mesh_.point[3 * i]))
        found.push_back(std::int32_t(i));
    if (found.empty())
      fail_empty(choice.place, "node");
    return found;
  }

  /// Elements whose centres, the means of their nodes, lie in the box.
  std::vector<std::size_t> elements(const RegionChoice& region) const {
    const std::size_t n = std::size_t(nodes_per_elem(mesh_.shape));
    std::vector<std::size_t> found;
    for (std::size_t e = 0; e < mesh_.num_elem(); ++e) {
      double centre[3] = {};
      for (std::size_t i = n * e; i < n * (e + 1); ++i)
        for (std::size_t d = 0; d < 3; ++d)
          centre[d] += mesh_.point[3 * std::size_t(mesh_.node[i]) + d] / double(n);
      if (has(region.box, centre))
        found.push_back(e);
    }
    if (found.empty())
      fail_empty(region.place, "centre of an element");
    return found;
  }

private:
  bool has(const Box& box, const double* x) const {
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d)
      inside = inside && x[d] >= box[d] - slack_ && x[d] <= box[d + 3] + slack_;
    return inside;
  }

  [[noreturn]] void fail_empty(const std::string& where, const char* what) const {
    std::string span;
    for (std::size_t d = 0; d < 3; ++d)
      span += (d == 0 ? "" : ", ") + format_number(bounds_[d], 4) + " to " +
              format_number(bounds_[d + 3], 4);
    fail<InputError>(where, ": no ", what,
                     " is inside the box; scaled, turned and moved, the "
                     "object spans ",
                     span, " m");
  }

  const ElementMesh& mesh_;
  const MeshChoice& source_;
  std::int64_t unused_points_;
  Box bounds_;
  double slack_;
};

void check_law(const ObjectChoice& choice, const ElementMesh& mesh) {
  const std::string where = choice.place + ".material";
  const bool flat = mesh.shape == ElementShape::triangle;
  if (choice.material.law != SoftLaw::corotational && mesh.shape != ElementShape::tetra)
    fail<InputError>(where, ": the law ", name_of(choice.material.law), " is for tetrahedra; ",
                     describe_source(choice.mesh), " has ", plural_of(mesh.shape),
                     ": choose corotational");
  if (flat != choice.has_thickness)
    fail<InputError>(where,
                     flat ? ": \"thickness\" is missing: that of the triangles of "
                          : ": \"thickness\" has no effect on ",
                     describe_source(choice.mesh),
                     flat ? " in m" : ", which has no triangles: leave it out");
}

void add_loads(const ObjectChoice& choice, const Selector& select, SoftObject& object) {
  if (choice.loads.empty())
    return;
  object.load.assign(object.mesh.point.size(), 0);
  for (const LoadChoice& load : choice.loads) {
    const std::vector<std::int32_t> nodes = select.nodes(load.where);
    const double share = load.is_total ? 1 / double(nodes.size()) : 1;
    for (const std::int32_t node : nodes)
      for (std::size_t d = 0; d < 3; ++d)
        object.load[3 * std::size_t(node) + d] += share * load.force[d];
  }
}

void add_velocity(const ObjectChoice& choice, SoftObject& object) {
  if (choice.velocity == std::array<double, 3>{0, 0, 0})
    return;
  object.velocity.resize(object.mesh.point.size());
  for (std::size_t i = 0; i < object.velocity.size(); ++i)
    object.velocity[i] = choice.velocity[i % 3];
  for (const std::int32_t node : object.fixed)
    std::fill_n(&object.velocity[3 * std::size_t(node)], 3, 0.0);
}

} // namespace

std::string describe_source(const MeshChoice& mesh) {
  std::string text = std::to_string(mesh.count[0]);
  switch (mesh.kind) {
  case MeshChoice::Kind::cloth:
    return "cloth of " + text + " x " + std::to_string(mesh.count[1]) + " nodes";
  case MeshChoice::Kind::ellipsoid:
    return "ellipsoid of " + text + "^3 cells";
  case MeshChoice::Kind::hexa_box:
  case MeshChoice::Kind::tetra_box:
    text +=
        " x " + std::to_string(mesh.count[1]) + " x " + std::to_string(mesh.count[2]) + " cells";
    return (mesh.kind == MeshChoice::Kind::hexa_box ? "hexa_box of " : "tetra_box of ") + text;
  case MeshChoice::Kind::file:
    break;
  }
  return mesh.file;
}

SoftObject make_soft_object(const ObjectChoice& choice, std::int64_t& unused_points) {
  SoftObject object;
  object.name = choice.name;
  object.mesh = make_mesh(choice.mesh, unused_points);
  object.material = choice.material;
  object.density = choice.density;
  object.node_mass = choice.node_mass;
  check_law(choice, object.mesh);
  place(choice, object.mesh.point);

  const Selector select(object.mesh, choice.mesh, unused_points);
  for (const NodeSelection& nodes : choice.fixed) {
    const std::vector<std::int32_t> found = select.nodes(nodes);
    object.fixed.insert(object.fixed.end(), found.begin(), found.end());
  }
  std::sort(object.fixed.begin(), object.fixed.end());
  object.fixed.erase(std::unique(object.fixed.begin(), object.fixed.end()), object.fixed.end());
  add_loads(choice, select, object);
  add_velocity(choice, object);
  if (!choice.regions.empty())
    object.factor.assign(object.mesh.num_elem(), 1);
  for (const RegionChoice& region : choice.regions)
    for (const std::size_t e : select.elements(region))
      object.factor[e] = region.young_factor;
  return object;
}

} // namespace femura
