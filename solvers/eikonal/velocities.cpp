// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/velocities.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

std::map<int, std::int64_t> count_tags(const TetraMesh& mesh) {
  std::map<int, std::int64_t> counts;
  std::int64_t* count = nullptr; // tags come in runs
  int last = 0;
  for (const int tag : mesh.tag) {
    if (count == nullptr || tag != last)
      count = &counts[last = tag];
    ++*count;
  }
  return counts;
}

std::vector<ConductionVelocity> tetra_velocities(const std::vector<double>& value,
                                                 std::size_t num_tetra, const std::string& origin) {
  const std::size_t row = value.size() / num_tetra;
  OSSATURA_REQUIRE(row >= 1 && row <= 3 && value.size() == row * num_tetra,
                   value.size() << " numbers for " << num_tetra << " tetrahedra");
  std::vector<ConductionVelocity> velocities;
  velocities.reserve(num_tetra);
  for (std::size_t e = 0; e < num_tetra; ++e) {
    const double* v = &value[row * e];
    const ConductionVelocity one{v[0], v[row > 1 ? 1 : 0], v[row - 1]};
    if (!one.conducts()) {
      velocities.push_back(no_conduction);
      continue;
    }
    for (const double x : {one.fibre, one.sheet, one.normal})
      if (!(x > 0) || std::isinf(x))
        fail<InputError>(origin, ": tetrahedron ", e, " has velocity ", x,
                         ": in m/s, greater than 0; where no wave goes, the velocity along fibres "
                         "is 0 or NaN");
    velocities.push_back(one);
  }
  return velocities;
}

ChosenVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count) {
  ChosenVelocities chosen;
  for (const auto& [tag, num_tetra] : count) {
    const auto found = table.by_tag.find(tag);
    if (found != table.by_tag.end())
      chosen.by_tag[tag] = found->second;
    else if (table.other)
      chosen.by_tag[tag] = *table.other;
    else
      chosen.missing.push_back(tag);
  }
  for (const auto& entry : table.by_tag)
    if (count.count(entry.first) == 0)
      chosen.unused.push_back(entry.first);
  return chosen;
}

void block_tissue(const TetraMesh& mesh, const std::vector<int>& non_conducting,
                  MeshVelocities& velocities) {
  for (const int tag : non_conducting)
    if (velocities.by_tetra.empty())
      velocities.by_tag[tag] = no_conduction;
  if (!velocities.by_tetra.empty() && !non_conducting.empty())
    for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
      if (std::count(non_conducting.begin(), non_conducting.end(), mesh.tag[e]) > 0)
        velocities.by_tetra[e] = no_conduction;

  if (velocities.by_tetra.empty() &&
      std::all_of(velocities.by_tag.begin(), velocities.by_tag.end(),
                  [](const auto& entry) { return entry.second.conducts(); }))
    return;
  std::vector<bool> blocked(mesh.num_tetra());
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const bool is_blocked = !velocities.of(e, mesh.tag[e]).conducts();
    blocked[e] = is_blocked;
    velocities.num_blocked += is_blocked;
  }
  if (velocities.num_blocked > 0)
    velocities.blocked = std::move(blocked);
}

} // namespace ossatura
