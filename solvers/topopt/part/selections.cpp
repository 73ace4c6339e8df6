// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/selections.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/element_surface.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ossatura {

namespace {

/// The place of a point along the axis and its distance from it, m.
struct AxisPlace {
  double along, distance;
};

class CylinderAxis {
public:
  explicit CylinderAxis(const Cylinder& cylinder)
      : cylinder_(cylinder) {
    for (std::size_t d = 0; d < 3; ++d)
      way_[d] = cylinder.to[d] - cylinder.from[d];
    length_ = std::hypot(way_[0], way_[1], way_[2]);
    OSSATURA_REQUIRE(length_ > 0 && std::isfinite(length_), "an axis of " << length_ << " m");
    OSSATURA_REQUIRE(cylinder.radius > 0 && std::isfinite(cylinder.radius) && cylinder.inner >= 0 &&
                         cylinder.inner < cylinder.radius,
                     "a cylinder of radii " << cylinder.inner << " and " << cylinder.radius);
    for (double& x : way_)
      x /= length_;
  }

  bool is_between_ends(double along, double slack) const {
    return along >= -slack && along <= length_ + slack;
  }

  AxisPlace place(const double* x) const {
    double from[3], along = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      from[d] = x[d] - cylinder_.from[d];
      along += way_[d] * from[d];
    }
    return {along, std::hypot(from[0] - along * way_[0], from[1] - along * way_[1],
                              from[2] - along * way_[2])};
  }

  Box box(double wider) const {
    Box box;
    for (std::size_t d = 0; d < 3; ++d) {
      box[d] = std::min(cylinder_.from[d], cylinder_.to[d]) - cylinder_.radius - wider;
      box[d + 3] = std::max(cylinder_.from[d], cylinder_.to[d]) + cylinder_.radius + wider;
    }
    return box;
  }

private:
  const Cylinder& cylinder_;
  std::array<double, 3> way_{};
  double length_;
};

ChosenPlanes planes_in(const std::array<std::vector<double>, 3>& along, const Box& box) {
  ChosenPlanes chosen;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const double x : along[axis])
      chosen[axis].push_back(x >= box[axis] && x <= box[axis + 3]);
  return chosen;
}

/// Numbers, ascending, of the places of a lattice in the box that fulfil is_chosen(x, place).
template<class IsChosen>
std::vector<std::int32_t> find_places(const LatticeRows& rows,
                                      const std::array<std::vector<double>, 3>& along,
                                      const Box& box, const IsChosen& is_chosen) {
  std::vector<std::int32_t> found;
  LatticeBody::for_places(rows, planes_in(along, box),
                          [&](const LatticeBody::Place& place, std::int32_t number) {
                            double x[3];
                            for (std::size_t axis = 0; axis < 3; ++axis)
                              x[axis] = along[axis][std::size_t(place[axis])];
                            if (is_chosen(x, place))
                              found.push_back(number);
                          });
  return found;
}

template<class IsChosen>
std::vector<std::int32_t> find_elements(const DesignProblem& problem, const Box& box,
                                        const IsChosen& is_chosen) {
  if (problem.lattice) {
    std::array<std::vector<double>, 3> centre;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::vector<double>& plane = problem.lattice->plane(int(axis));
      for (std::size_t i = 0; i + 1 < plane.size(); ++i)
        centre[axis].push_back(0.5 * (plane[i] + plane[i + 1]));
    }
    return find_places(problem.lattice->elem(), centre, box,
                       [&](const double* x, const LatticeBody::Place&) { return is_chosen(x); });
  }
  std::vector<std::int32_t> found;
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    if (is_chosen(problem.centre_of(e).data()))
      found.push_back(std::int32_t(e));
  return found;
}

/// Nodes on the boundary of the mesh or the solids, in any order, some more than once.
std::vector<std::int32_t> boundary_nodes(const DesignProblem& problem) {
  if (!problem.solids)
    return boundary_triangles(problem.mesh);
  std::vector<std::int32_t> nodes;
  for (const FaceOfElement& face : boundary_faces(*problem.solids)) {
    const std::size_t e = std::size_t(face.elem);
    const SolidFaceNodes of_face = face_nodes(problem.solids->kind[e], face.face);
    for (int k = 0; k < of_face.num_nodes; ++k)
      nodes.push_back(problem.solids->nodes_of(e)[std::size_t(of_face.node[k])]);
  }
  return nodes;
}

/// Of all nodes, or of those on the boundary alone.
template<class IsChosen>
std::vector<std::int32_t> find_nodes_at(const DesignProblem& problem, const Box& box,
                                        bool on_boundary, const IsChosen& is_chosen) {
  if (problem.lattice) {
    const LatticeBody& body = *problem.lattice;
    const auto is_inside = [&body](const LatticeBody::Place& node) {
      int cells = 0;
      for (int side = 0; side < 8; ++side)
        cells += body.elem().has(
            {node[0] - (side & 1), node[1] - (side >> 1 & 1), node[2] - (side >> 2)});
      return cells == 8;
    };
    return find_places(body.node(), {body.plane(0), body.plane(1), body.plane(2)}, box,
                       [&](const double* x, const LatticeBody::Place& place) {
                         return is_chosen(x) && !(on_boundary && is_inside(place));
                       });
  }
  const std::vector<double>& points = problem.points();
  std::vector<bool> can_be(problem.num_nodes(), !on_boundary);
  if (on_boundary)
    for (const std::int32_t node : boundary_nodes(problem))
      can_be[std::size_t(node)] = true;
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < can_be.size(); ++i)
    if (can_be[i] && is_chosen(&points[3 * i]))
      found.push_back(std::int32_t(i));
  return found;
}

/// Whether points are in the cylinder.
auto is_in(const Cylinder& cylinder, const CylinderAxis& axis, double slack) {
  return [&cylinder, &axis, slack](const double* x) {
    const AxisPlace place = axis.place(x);
    return axis.is_between_ends(place.along, slack) && place.distance <= cylinder.radius + slack &&
           place.distance >= cylinder.inner - slack;
  };
}

} // namespace

std::vector<std::int32_t> nodes_in(const DesignProblem& problem, const Cylinder& cylinder,
                                   double slack) {
  const CylinderAxis axis(cylinder);
  return find_nodes_at(problem, axis.box(slack), false, is_in(cylinder, axis, slack));
}

std::vector<std::int32_t> elements_in(const DesignProblem& problem, const Cylinder& cylinder,
                                      double slack) {
  const CylinderAxis axis(cylinder);
  return find_elements(problem, axis.box(slack), is_in(cylinder, axis, slack));
}

std::vector<std::int32_t> nodes_at_wall(const DesignProblem& problem, const Cylinder& cylinder,
                                        double within, double slack) {
  OSSATURA_REQUIRE(within > 0 && std::isfinite(within), "a distance of " << within << " m");
  const CylinderAxis axis(cylinder);
  return find_nodes_at(problem, axis.box(within + slack), true, [&](const double* x) {
    const AxisPlace place = axis.place(x);
    return axis.is_between_ends(place.along, slack) &&
           std::fabs(place.distance - cylinder.radius) <= within + slack;
  });
}

std::vector<std::int32_t> boundary_nodes_near(const DesignProblem& problem,
                                              const NearSurface& surface) {
  return find_nodes_at(problem, surface.bounds(), true,
                       [&](const double* x) { return surface.has(x); });
}

std::vector<std::int32_t> elements_near(const DesignProblem& problem, const NearSurface& surface) {
  return find_elements(problem, surface.bounds(), [&](const double* x) { return surface.has(x); });
}

std::vector<std::int32_t> boundary_nodes_of(const LatticeBody& body,
                                            const std::vector<std::int32_t>& elements) {
  std::vector<std::int32_t> nodes;
  for (const std::int32_t e : elements) {
    const LatticeBody::Place cell = body.elem().place(e);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side) {
        LatticeBody::Place beyond = cell;
        beyond[axis] += 2 * side - 1;
        if (body.elem().has(beyond))
          continue;
        for (int k = 0; k < 4; ++k) {
          LatticeBody::Place node = cell;
          node[axis] += side;
          node[(axis + 1) % 3] += k & 1;
          node[(axis + 2) % 3] += k >> 1;
          nodes.push_back(body.node().number(node));
        }
      }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

} // namespace ossatura
