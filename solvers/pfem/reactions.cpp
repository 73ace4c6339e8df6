// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/reactions.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

SupportReactions find_reactions(const std::vector<SupportedVertices>& supports,
                                const std::vector<double>& force,
                                const std::vector<double>& internal,
                                const std::vector<std::uint8_t>& held, std::size_t num_vertices) {
  SupportReactions found;
  double sizes = 0; // of reactions and loads
  for (std::size_t i = 0; i < 3 * num_vertices; ++i) {
    found.total_load[i % 3] += force[i];
    sizes += std::fabs(force[i]);
    if ((held[i / 3] >> i % 3 & 1) == 0)
      continue;
    found.total_reaction[i % 3] += internal[i] - force[i];
    sizes += std::fabs(internal[i] - force[i]);
  }
  found.of_support.assign(supports.size(), {});
  found.of_points.assign(supports.size(), 0);
  std::vector<std::uint8_t> taken(num_vertices); // components, by the last support that has them
  for (std::size_t k = supports.size(); k-- > 0;) {
    const SupportedVertices& support = supports[k];
    for (const std::int32_t vertex : support.vertices)
      for (std::size_t c = 0; c < 3; ++c) {
        std::uint8_t& before = taken[std::size_t(vertex)];
        if ((support.components >> c & 1) == 0 || (before >> c & 1) != 0)
          continue;
        before = std::uint8_t(before | 1u << c);
        const std::size_t i = 3 * std::size_t(vertex) + c;
        const double reaction = internal[i] - force[i];
        found.of_support[k][c] += reaction;
        if (std::binary_search(support.points.begin(), support.points.end(), vertex))
          found.of_points[k] += std::fabs(reaction);
      }
    found.of_points[k] /= sizes > 0 ? sizes : 1;
  }
  return found;
}

std::vector<double> without_settlement(std::vector<double> u, std::size_t num_vertices) {
  std::array<double, 3> mean{};
  for (std::size_t i = 0; i < 3 * num_vertices; ++i)
    mean[i % 3] += u[i] / double(num_vertices);
  for (std::size_t i = 0; i < 3 * num_vertices; ++i)
    u[i] -= mean[i % 3];
  return u;
}

} // namespace ossatura
