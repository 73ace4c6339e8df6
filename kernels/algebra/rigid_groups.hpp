// SPDX-License-Identifier: Apache-2.0
// A rigid group of nodes moves as one body, u_i = U + W x (x_i - X): the displacements that it can
// have are the span of six vectors. With these orthonormal, as the columns of T, T T^T is the
// orthogonal projector onto such motions. Conjugate gradients stay in the space of admissible
// displacements where what they add up is projected, as they stay in that of free components where
// held ones are cleared: they solve P A P u = P f.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Node i of all groups is entry i of `node`; those of group g are begin(g) .. begin(g + 1).
template<class Exec>
struct RigidGroups {
  Array<int, Exec> begin;        ///< [groups + 1]
  Array<int, Exec> node;         ///< [m]
  Array<int, Exec> group;        ///< [m]
  Array<double, Exec> motion;    ///< T [m, 3, 6]
  Array<double, Exec> amplitude; ///< T^T v [groups, 6], scratch

  int count() const { return begin.extent(0) == 0 ? 0 : int(begin.extent(0)) - 1; }
};

namespace detail {

/// An entry of T^T v for each team.
template<class Exec, class Scalar>
struct SumRigidMotion {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  RigidGroups<Exec> groups;
  Array<Scalar, Exec> v;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int g = team.league_rank() / 6, k = team.league_rank() % 6;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, groups.begin(g), groups.begin(g + 1)),
        [&](int i, double& part) {
          for (int c = 0; c < 3; ++c)
            part += groups.motion(18 * std::int64_t(i) + 6 * c + k) *
                    double(v(3 * std::int64_t(groups.node(i)) + c));
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { groups.amplitude(team.league_rank()) = sum; });
  }
};

template<class Exec, class Scalar>
struct SetRigidMotion {
  RigidGroups<Exec> groups;
  Array<Scalar, Exec> v;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int g = groups.group(i);
    for (int c = 0; c < 3; ++c) {
      double sum = 0;
      for (int k = 0; k < 6; ++k)
        sum += groups.motion(18 * i + 6 * c + k) * groups.amplitude(6 * g + k);
      v(3 * std::int64_t(groups.node(i)) + c) = Scalar(sum);
    }
  }
};

/// Makes the columns of [n, 6] orthonormal, one after the other and twice, for the sake of digits.
/// False where one depends on those before it.
inline bool make_orthonormal(std::vector<double>& columns, std::size_t n) {
  for (std::size_t k = 0; k < 6; ++k) {
    double now = 0;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t j = 0; j < k; ++j) {
        double along = 0;
        for (std::size_t i = 0; i < n; ++i)
          along += columns[6 * i + j] * columns[6 * i + k];
        for (std::size_t i = 0; i < n; ++i)
          columns[6 * i + k] -= along * columns[6 * i + j];
      }
      now = 0;
      for (std::size_t i = 0; i < n; ++i)
        now += columns[6 * i + k] * columns[6 * i + k];
      if (!(now > 1e-12))
        return false;
      for (std::size_t i = 0; i < n; ++i)
        columns[6 * i + k] /= std::sqrt(now);
    }
  }
  return true;
}

} // namespace detail

/// Groups of nodes with `point` [num_nodes, 3]. Throws std::invalid_argument for nodes out of
/// range, in two groups or held in some component, and for groups whose nodes are on a line, which
/// has no rotation about itself. Fences.
template<class Exec>
RigidGroups<Exec>
make_rigid_groups(const Exec& exec, const std::vector<std::vector<std::int32_t>>& groups,
                  const std::vector<double>& point, const std::vector<bool>& is_held) {
  std::vector<int> begin{0}, node, group;
  std::vector<double> motion;
  std::vector<bool> taken(point.size() / 3);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double centre[3] = {}, size = 0;
    for (const std::int32_t n : groups[g]) {
      OSSATURA_REQUIRE(n >= 0 && std::size_t(n) < taken.size(),
                       "rigid body " << g << ": node " << n << " of " << taken.size());
      OSSATURA_REQUIRE(!taken[std::size_t(n)], "node " << n << " is of two rigid bodies");
      OSSATURA_REQUIRE(!is_held[std::size_t(n)],
                       "node " << n << " of rigid body " << g << " is held or moved");
      taken[std::size_t(n)] = true;
      for (std::size_t c = 0; c < 3; ++c)
        centre[c] += point[3 * std::size_t(n) + c] / double(groups[g].size());
    }
    for (const std::int32_t n : groups[g])
      for (std::size_t c = 0; c < 3; ++c)
        size = std::max(size, std::fabs(point[3 * std::size_t(n) + c] - centre[c]));
    std::vector<double> columns;
    for (const std::int32_t n : groups[g]) {
      double x[3];
      for (std::size_t c = 0; c < 3; ++c)
        x[c] = (point[3 * std::size_t(n) + c] - centre[c]) / size;
      const double rows[3][6] = {
          {1, 0, 0, 0, x[2], -x[1]}, {0, 1, 0, -x[2], 0, x[0]}, {0, 0, 1, x[1], -x[0], 0}};
      for (const auto& row : rows)
        columns.insert(columns.end(), row, row + 6);
      node.push_back(n);
      group.push_back(int(g));
    }
    OSSATURA_REQUIRE(groups[g].size() >= 3 && size > 0 &&
                         detail::make_orthonormal(columns, 3 * groups[g].size()),
                     "the nodes of rigid body "
                         << g << " are on a line, and have no rotation about it: take more");
    motion.insert(motion.end(), columns.begin(), columns.end());
    begin.push_back(int(node.size()));
  }
  return {upload(exec, "ossatura::rigid::begin", begin),
          upload(exec, "ossatura::rigid::node", node),
          upload(exec, "ossatura::rigid::group", group),
          upload(exec, "ossatura::rigid::motion", motion),
          make_zeros<double>(exec, 6 * std::int64_t(groups.size()), "ossatura::rigid::amplitude")};
}

/// Makes what v [num_nodes, 3] has at the nodes of groups the nearest rigid motion. The same for
/// any number of threads. Does not fence.
template<class Exec, class Scalar>
void project_rigid(const Exec& exec, const RigidGroups<Exec>& groups,
                   const Array<Scalar, Exec>& v) {
  if (groups.count() == 0)
    return;
  Kokkos::parallel_for(
      "ossatura::sum_rigid_motion",
      Kokkos::TeamPolicy<Exec>(exec, 6 * groups.count(), BackendTraits<Exec>::is_device ? 128 : 1),
      detail::SumRigidMotion<Exec, Scalar>{groups, v});
  Kokkos::parallel_for("ossatura::set_rigid_motion", range(exec, groups.node.extent(0)),
                       detail::SetRigidMotion<Exec, Scalar>{groups, v});
}

} // namespace ossatura
