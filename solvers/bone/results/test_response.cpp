// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/test_response.hpp>

#include <cmath>

namespace ossatura {

namespace {

/// The answer of a test between plates normal to `axis`: what `upper`, the plate that moved, feels
/// along `direction`, or about it where it turns by `angle`.
TestResponse response_of(const NodeBox& box, double edge, const MovedSupport& upper, int axis,
                         int direction, std::optional<double> angle = {}) {
  TestResponse response;
  const int a = axis;
  response.height = edge * (box.upper[a] - box.lower[a]);
  response.area = edge * edge * (box.upper[(a + 1) % 3] - box.lower[(a + 1) % 3]) *
                  double(box.upper[(a + 2) % 3] - box.lower[(a + 2) % 3]);
  if (angle) {
    response.angle = angle;
    response.moment = upper.reaction.moment[direction];
    if (*angle != 0)
      response.rotational_stiffness = *response.moment / *angle;
    return response;
  }
  response.displacement = upper.displacement[direction];
  response.force = upper.reaction.force[direction];
  response.strain = *response.displacement / response.height;
  response.stress = *response.force / response.area;
  if (*response.displacement != 0) {
    response.stiffness = *response.force / *response.displacement;
    response.apparent_modulus = *response.stress / *response.strain;
  }
  return response;
}

/// The answer to a shear in the plane of the axes b and c, whose mean stress is that of the forces
/// on the sides: its volume times it is the sum of f_b x_c, and of f_c x_b, over their nodes. A
/// side's moment about its own centre is that of the forces along it.
TestResponse shear_response(const MechanicalTest& test, const NodeBox& box, double edge,
                            const std::vector<MovedSupport>& supports) {
  const int a = test.axis, b = (a + 1) % 3, c = (a + 2) % 3;
  TestResponse response;
  response.height = edge * (box.upper[a] - box.lower[a]);
  response.area = edge * edge * (box.upper[b] - box.lower[b]) * double(box.upper[c] - box.lower[c]);
  double sum = 0; // of f_b x_c + f_c x_b
  for (const auto& [reaction, displacement] : supports) {
    const double along_b = reaction.force[b] * reaction.centre[c],
                 along_c = reaction.force[c] * reaction.centre[b];
    if (reaction.normal == b)
      sum += along_b - reaction.moment[a] + along_c;
    else if (reaction.normal == c)
      sum += along_b + along_c + reaction.moment[a];
  }
  response.strain = test.strain;
  response.stress = sum / (2 * response.height * response.area);
  response.apparent_modulus = *response.stress / *response.strain;
  return response;
}

} // namespace

TestResponse plate_response(const MechanicalTest& test, const NodeBox& box, double edge,
                            const std::vector<MovedSupport>& supports) {
  switch (test.kind) {
  case TestKind::torsion:
    return response_of(box, edge, supports[1], test.axis, test.axis, test.angle);
  case TestKind::bending: { // both plates turn, by half of the angle each
    MovedSupport both = supports[1];
    for (int d = 0; d < 3; ++d)
      both.reaction.moment[d] =
          0.5 * (supports[1].reaction.moment[d] - supports[0].reaction.moment[d]);
    return response_of(box, edge, both, test.axis, test.direction, test.angle);
  }
  case TestKind::shear:
    return response_of(box, edge, supports[1], test.axis, test.direction);
  case TestKind::symmetric_shear:
    return shear_response(test, box, edge, supports);
  default:
    return response_of(box, edge, supports[1], test.axis, test.axis);
  }
}

std::optional<TestResponse> listed_response(const NodeBox& box, double edge,
                                            const std::vector<MovedSupport>& supports) {
  const MovedSupport* moved = nullptr;
  MovedSupport all; // of those that move alike: a plate has other nodes where a symmetry holds them
  int direction = -1;
  constexpr double same = 1e-12; // means over nodes are rounded
  for (const MovedSupport& support : supports)
    for (int d = 0; d < 3; ++d)
      if (const double way = support.displacement[d]; way != 0) {
        if (moved && (d != direction || moved == &support ||
                      std::abs(way - moved->displacement[d]) > same * std::abs(way)))
          return {};
        for (int c = 0; c < 3; ++c)
          all.reaction.force[c] += support.reaction.force[c];
        all.displacement = support.displacement;
        moved = &support;
        direction = d;
      }
  if (!moved || supports.size() < 2)
    return {};
  if (supports.size() > 2) // no pair of ends: along the motion
    return response_of(box, edge, all, direction, direction);
  const MovedSupport& other = moved == &supports[0] ? supports[1] : supports[0];
  int axis = 0; // along which the two supports are apart
  for (int d = 1; d < 3; ++d)
    if (std::abs(moved->reaction.centre[d] - other.reaction.centre[d]) >
        std::abs(moved->reaction.centre[axis] - other.reaction.centre[axis]))
      axis = d;
  return response_of(box, edge, *moved, axis, direction);
}

} // namespace ossatura
