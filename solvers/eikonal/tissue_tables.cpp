// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/tissue_tables.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace ossatura::detail {

namespace {

/// Appends the squared slownesses of one tissue; `what` and `number` name it.
void add_slowness(const ConductionVelocity& velocity, const char* what, std::int64_t number,
                  std::vector<double>& table) {
  for (const double v : {velocity.fibre, velocity.sheet, velocity.normal}) {
    if (velocity.conducts() && !(v > 0 && std::isfinite(v)))
      fail<std::invalid_argument>(what, ' ', number, " has velocity ", v);
    table.push_back(velocity.conducts() ? 1 / (v * v) : -1);
  }
}

} // namespace

TissueRows::TissueRows(const TetraMesh& mesh)
    : row(mesh.tag.size()) {
  // Runs of one tag are long, and tags are few: blocks list theirs, and then look up their rows.
  constexpr std::size_t block_size = 1 << 16;
  const std::size_t n = row.size(), num_blocks = (n + block_size - 1) / block_size;
  std::vector<std::vector<int>> of_block(num_blocks);
  const auto for_blocks = [&](const auto& visit) {
    for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t b = first; b < end; ++b)
        visit(of_block[b], block_size * b, std::min(n, block_size * (b + 1)));
    });
  };
  for_blocks([&](std::vector<int>& seen, std::size_t first, std::size_t end) {
    std::unordered_set<int> known;
    for (std::size_t t = first; t < end; ++t)
      if ((t == first || mesh.tag[t] != mesh.tag[t - 1]) && known.insert(mesh.tag[t]).second)
        seen.push_back(mesh.tag[t]);
  });
  std::unordered_map<int, int> row_of;
  for (const std::vector<int>& seen : of_block)
    for (const int t : seen)
      if (row_of.try_emplace(t, int(tag.size())).second)
        tag.push_back(t);
  for_blocks([&](const std::vector<int>&, std::size_t first, std::size_t end) {
    for (std::size_t t = first; t < end; ++t)
      row[t] = t > first && mesh.tag[t] == mesh.tag[t - 1] ? row[t - 1] : row_of.at(mesh.tag[t]);
  });
}

void check_tetra_mesh(const TetraMesh& mesh) {
  const std::size_t n = mesh.num_tetra();
  OSSATURA_REQUIRE(mesh.point.size() % 3 == 0 && mesh.tetra.size() % 4 == 0,
                   "points have 3 coordinates, tetrahedra 4 vertices");
  OSSATURA_REQUIRE(mesh.tag.size() == n, mesh.tag.size() << " tags of " << n << " tetrahedra");
  for (const auto* direction : {&mesh.fibre, &mesh.sheet})
    OSSATURA_REQUIRE(direction->empty() || direction->size() == 3 * n,
                     direction->size() << " components of directions of " << n << " tetrahedra");
  for (const double x : mesh.point)
    OSSATURA_REQUIRE(std::isfinite(x), "a coordinate is not finite");
}

std::vector<double> slowness_table(const std::vector<int>& tags,
                                   const TissueVelocities& velocities) {
  std::vector<double> table;
  for (const int tag : tags) {
    const auto found = velocities.find(tag);
    OSSATURA_REQUIRE(found != velocities.end(), "tag " << tag << " has no velocity");
    add_slowness(found->second, "tag", tag, table);
  }
  return table;
}

std::vector<double> slowness_table(std::int64_t num_tetra,
                                   const std::vector<ConductionVelocity>& velocities) {
  OSSATURA_REQUIRE(std::int64_t(velocities.size()) == num_tetra,
                   velocities.size() << " velocities of " << num_tetra << " tetrahedra");
  std::vector<double> table;
  table.reserve(3 * velocities.size());
  for (std::size_t t = 0; t < velocities.size(); ++t)
    add_slowness(velocities[t], "tetrahedron", std::int64_t(t), table);
  return table;
}

const char* describe_fault(MetricFault fault) {
  switch (fault) {
  case MetricFault::fast:
    return "a wave passes it in less than the precision of times resolves: its velocity is too "
           "large, or the mesh too small";
  case MetricFault::contrast:
    return "its velocities along and across fibres differ by more than double precision resolves";
  default:
    return "a wave takes more than 1e6 ms along one of its edges: its velocity is too small, or "
           "the mesh too large; tissue that does not conduct has velocity 0";
  }
}

} // namespace ossatura::detail
