// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/lattice_motion.hpp>

namespace ossatura {

namespace {

/// A chain of elements through all of its points: one part, whatever the elements look like.
ElementMesh make_chain(std::vector<double> point) {
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  mesh.point = std::move(point);
  const std::int32_t last = std::int32_t(mesh.num_points()) - 1;
  for (std::int32_t first = 0; first < last; first += 7)
    for (std::int32_t corner = 0; corner < 8; ++corner)
      mesh.node.push_back(first + corner < last ? first + corner : last);
  return mesh;
}

} // namespace

// The rigid motions of a body that is one part are known by the box around it and by what is held:
// a chain of the box's ends and of these nodes has the same.
std::string describe_free_motion(const LatticeBody& body, const std::vector<HeldComponents>& held,
                                 const std::vector<NodeSpring>& springs) {
  if (!body.is_one_part())
    return describe_free_motion(body.mesh(), held, springs);
  const Box bounds = body.bounds();
  std::vector<double> point(bounds.begin(), bounds.end());
  const auto add = [&](std::int32_t node) {
    for (const double x : body.point(body.node().place(node)))
      point.push_back(x);
    return std::int32_t(point.size() / 3) - 1;
  };
  std::vector<HeldComponents> own_held;
  for (const HeldComponents& one : held)
    own_held.push_back({add(one.node), one.components});
  std::vector<NodeSpring> own_springs;
  for (const NodeSpring& one : springs)
    own_springs.push_back({add(one.node), one.component, one.stiffness});
  return describe_free_motion(make_chain(std::move(point)), own_held, own_springs);
}

} // namespace ossatura
