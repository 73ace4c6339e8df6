// SPDX-License-Identifier: Apache-2.0
// The compliance says how contact points give under contact forces, on cores: H A^-1 H^T by way of
// the nodes in contact. kernels/softbody/contact/compliance.hpp uses all of W = L^-1; this file
// finds the needed part from L, for these nodes alone [1, 2]:
//   S = D^-1/2 L^-1 E   columns of the nodes E, by substitution along their paths in the
//                       elimination tree
//   G = S^T S           how the nodes give, by A^-1 = (L D L^T)^-1
// and the compliance is H R G R^T H^T, a few products for each two contacts. G belongs to the
// factor and stays as long as the factor; nodes that come into contact later add their columns.
//
// Columns are taken 16 nodes at a time, so that L is read once for 48 right-hand sides, and all
// arithmetic but that of H R G R^T H^T and of sums over panels is in single precision, as is W. An
// entry of G does not depend on the nodes that were there before or come with its own: a run that
// goes on from a checkpoint gets the same bits.
//
// [1] J. Gilbert, T. Peierls. Sparse partial pivoting in time proportional to arithmetic
//     operations. SIAM J. Sci. Stat. Comput. 9 (1988) 862-874, doi:10.1137/0909058 (the paths).
// [2] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/kernels/factor/diagonal_inverse.hpp>
#include <ossatura/kernels/softbody/contact/compliance.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// For backends of cores.
template<class Exec>
class NodeCompliance {
public:
  static constexpr int group = 16, width = 3 * group; ///< nodes and columns that go together

  explicit NodeCompliance(const FactorPattern& pattern);

  /// Takes another factor, which must stay as it is until the next call, and forgets the nodes of
  /// the last one.
  void use(const SupernodalFactor<Exec>& factor, const DiagonalInverse<Exec>& diagonal);

  int num_nodes() const { return pattern_.num_nodes; } ///< of the factor
  std::int64_t num_entries() const;                    ///< stored, of S and G

  /// Columns for the nodes of the pairs that can move and have none yet. Fences.
  void add_nodes(const Exec& exec, const ContactPairs<Exec>& pairs);

  /// Column of G of the node's first component; -1 where it has none.
  int column(int node) const { return column_[std::size_t(node)]; }
  int num_groups() const { return int(groups_.size()); }
  /// Of groups i and j: [width, width], row-major.
  const double* tile(int i, int j) const { return tiles_[i][j].data(); }

  // Of add_nodes, for kernels
  void substitute(int group);
  void multiply(int i, int j);

private:
  /// Columns of 16 nodes: rows of the panels on their paths, in order.
  struct Group {
    std::vector<int> node;
    std::vector<int> panel;
    std::vector<int> row; ///< [panels + 1], first of each
    std::vector<float> s; ///< [rows, width]
  };

  void make_group(const int* nodes, int count);
  void take_panel(int s);

  FactorPattern pattern_;
  std::vector<std::int64_t> diagonal_begin_; ///< [panels]
  SupernodalFactor<Exec> factor_;
  DiagonalInverse<Exec> diagonal_;
  std::vector<float> panel_, inverse_; ///< of L, and of its diagonal blocks, where they are needed
  std::vector<char> taken_;            ///< [panels]: these are there
  std::vector<int> column_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::vector<double>>> tiles_;
};

/// compliance = scale H A^-1 H^T for the pairs, as the one of an inverse factor; nodes get their
/// columns.
template<class Exec>
void make_compliance(const Exec& exec, const ContactPairs<Exec>& pairs, NodeCompliance<Exec>& nodes,
                     const Array<double, Exec>& rotation, double scale,
                     ComplianceSpace<Exec>& space, Compliance<Exec>& compliance);

} // namespace ossatura
