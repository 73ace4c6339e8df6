// SPDX-License-Identifier: Apache-2.0
#include "bench/bone/csr_assembly.hpp"

#include <ossatura/kernels/bone/element.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace ossatura::bench {

namespace {

struct Neighbour {
  int node;
  int place; ///< 0 .. 26 around the row's node, x fastest
};

} // namespace

template<class Scalar>
CsrMatrix<Scalar> assemble_csr(const VoxelProblem<HostBackend>& problem) {
  const VoxelGrid<HostBackend>& grid = problem.grid;
  const LameField<HostBackend>& lame = problem.lame;
  CsrMatrix<Scalar> matrix;
  matrix.row_begin.assign(1, 0);
  for (int node = 0; node < grid.num_nodes; ++node) {
    const Site s = grid.site(node);
    // blocks[place] couples the node with the one at `place`; used where they share a voxel.
    std::array<std::array<double, 9>, 27> blocks{};
    std::array<bool, 27> used{};
    for (int q = 0; q < 8; ++q) {
      const int x = q & 1, y = q >> 1 & 1, z = q >> 2;
      const int lowest = grid.find(s.x - x, s.y - y, s.z - z);
      if (lowest < 0 || !lame.solid(lowest))
        continue;
      const VoxelStiffnessEntries<double> k(problem.edge * lame.lambda(lowest),
                                            problem.edge * lame.mu(lowest));
      for (int v = 0; v < 8; ++v) {
        const int place = (1 - x + (v & 1)) + 3 * (1 - y + (v >> 1 & 1)) + 9 * (1 - z + (v >> 2));
        used[place] = true;
        for (int i = 0; i < 9; ++i)
          blocks[place][i] += k(q, i / 3, v, i % 3);
      }
    }
    std::array<Neighbour, 27> neighbours;
    int count = 0;
    for (int place = 0; place < 27; ++place)
      if (used[place])
        neighbours[count++] = {
            grid.find(s.x + place % 3 - 1, s.y + place / 3 % 3 - 1, s.z + place / 9 - 1), place};
    std::sort(neighbours.begin(), neighbours.begin() + count,
              [](const Neighbour& a, const Neighbour& b) { return a.node < b.node; });
    OSSATURA_REQUIRE(matrix.column.size() + 9 * 27 <= std::size_t(std::numeric_limits<int>::max()),
                     "a matrix of more than 2^31 entries");
    for (int c = 0; c < 3; ++c) {
      for (int j = 0; j < count; ++j)
        for (int d = 0; d < 3; ++d) {
          matrix.column.push_back(3 * neighbours[j].node + d);
          matrix.value.push_back(Scalar(blocks[neighbours[j].place][3 * c + d]));
        }
      matrix.row_begin.push_back(int(matrix.column.size()));
    }
  }
  return matrix;
}

template CsrMatrix<double> assemble_csr(const VoxelProblem<HostBackend>&);
template CsrMatrix<float> assemble_csr(const VoxelProblem<HostBackend>&);

} // namespace ossatura::bench
