// SPDX-License-Identifier: Apache-2.0
// The compliance says how contact points give under contact forces: H A^-1 H^T from the inverse
// factor, A^-1 = W^T D^-1 W. Rows of S = D^-1/2 W H^T are zero but in the panels of nodes in
// contact and of their ancestors in the elimination tree; only these rows are formed, and the
// compliance is S^T S [1, 2].
//
// Rows of S are in blocks of 8 of one panel, columns in tiles of 8 pairs. Pairs ascend by node and
// nodes are postordered, so that a panel far down the tree has columns in few tiles: products of
// blocks and tiles without entries are passed over.
//
// [1] H. Courtecuisse, J. Allard, P. Kerfriden, S. Bordas, S. Cotin, C. Duriez. Real-time
//     simulation of contact and cutting of heterogeneous soft-tissues. Med. Image Anal. 18 (2014)
//     394-410, doi:10.1016/j.media.2013.11.001.
// [2] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/factor/inverse.hpp>
#include <ossatura/kernels/softbody/contact/pairs.hpp>

namespace ossatura {

namespace detail {
constexpr int compliance_block = 8; ///< rows of S
constexpr int compliance_pairs = 8; ///< of a tile
} // namespace detail

/// Row-major, symmetric; rows and columns 3 p + c for pair p and direction c. Rows are padded.
template<class Exec>
struct Compliance {
  int num_pairs = 0;
  int stride = 0;
  Array<double, Exec> value; ///< m/N where the scale is s^2; [3 num_pairs, stride] and more room
};

/// Arrays between steps, with room that grows when it must.
template<class Exec>
struct ComplianceSpace {
  int stamp = 0;                ///< number of the call: what is marked with another is not marked
  Array<int, Exec> mark;        ///< [num_panels]
  Array<int, Exec> block_panel; ///< [room for all blocks]
  Array<int, Exec> block_first; ///< first row of a block in its panel
  Array<int, Exec> filled;      ///< [blocks, tiles]
  Array<double, Exec> s;        ///< [blocks, 8, stride]
  Array<double, Exec> partial;  ///< [chunks, pairs of tiles, 24, 24]
};

namespace detail {

/// Marks the panels of nodes in contact and their ancestors. A walk that meets a mark ends: whoever
/// left it goes on.
template<class Exec>
struct MarkAncestors {
  ContactPairs<Exec> pairs;
  Array<int, Exec> panel_of, parent, mark;
  int stamp;

  KOKKOS_FUNCTION void operator()(int pk) const {
    const ContactPair& pair = pairs.pair(pk / 4);
    if ((pair.free >> pk % 4 & 1) == 0)
      return;
    for (int s = panel_of(pair.node[pk % 4]); s >= 0 && mark(s) != stamp; s = parent(s))
      mark(s) = stamp;
  }
};

template<class Exec>
struct ListBlocks {
  Array<int, Exec> first, mark, block_panel, block_first;
  int stamp;

  KOKKOS_FUNCTION void operator()(int s, int& place, bool final) const {
    if (mark(s) != stamp)
      return;
    const int rows = 3 * (first(s + 1) - first(s));
    for (int row = 0; row < rows; row += int(compliance_block), ++place)
      if (final) {
        block_panel(place) = s;
        block_first(place) = row;
      }
  }
};

/// A block of S for the pair of a thread. With rotations, W is that of a body whose nodes have
/// turned by them since.
template<class Exec, class Storage>
struct FillComplianceRows {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  ArrayPointer<const ContactPair> pair;
  ArrayPointer<const int> first, subtree_first, origin, stride_of;
  ArrayPointer<const std::int64_t> begin;
  ArrayPointer<const Storage> value;
  ArrayPointer<const double> inverse_pivot;
  ArrayPointer<const double> rotation; ///< [num_nodes, 9], row-major, or null
  ArrayPointer<const int> block_panel, block_first;
  ArrayPointer<int> filled;
  ArrayPointer<double> s;
  int num_pairs, num_tiles, stamp;

  KOKKOS_FUNCTION void add(const ContactPair& contact, int k, int row, int num_rows, int panel,
                           double (&sum)[compliance_block][3]) const {
    const int node = contact.node[k];
    double direction[3][3];
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        double h = contact.frame[3 * c + d];
        if (rotation.data) {
          h = 0;
          for (int e = 0; e < 3; ++e)
            h += rotation(9 * std::int64_t(node) + 3 * e + d) * contact.frame[3 * c + e];
        }
        direction[c][d] = contact.weight[k] * h;
      }
    const std::int64_t stride = stride_of(panel);
    const Storage* w = &value(begin(panel) + row * stride + 3 * node - origin(panel));
    for (int r = 0; r < num_rows; ++r)
      for (int d = 0; d < 3; ++d) {
        const double entry = double(w[r * stride + d]);
        for (int c = 0; c < 3; ++c)
          sum[r][c] += entry * direction[c][d];
      }
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int block = team.league_rank(), panel = block_panel(block), row = block_first(block);
    const int begin_node = subtree_first(panel), end_node = first(panel + 1);
    const int left = 3 * (end_node - first(panel)) - row;
    const int num_rows = Kokkos::min(int(compliance_block), left);
    const int stride = 3 * int(compliance_pairs) * num_tiles;
    double* out = &s(std::int64_t(block) * int(compliance_block) * stride);
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, num_tiles * int(compliance_pairs)), [&](int p) {
          double sum[compliance_block][3] = {};
          if (p < num_pairs) {
            const ContactPair& contact = pair(p);
            for (int k = 0; k < 4; ++k)
              if ((contact.free >> k & 1) != 0 && contact.node[k] >= begin_node &&
                  contact.node[k] < end_node) {
                filled(block * num_tiles + p / int(compliance_pairs)) = stamp; // the same from all
                add(contact, k, row, num_rows, panel, sum);
              }
          }
          for (int r = 0; r < int(compliance_block); ++r) {
            const double root =
                r < num_rows ? sqrt(inverse_pivot(3 * std::int64_t(first(panel)) + row + r)) : 0;
            for (int c = 0; c < 3; ++c)
              out[r * stride + 3 * p + c] = root * sum[r][c];
          }
        });
  }
};

/// S^T S of two tiles over a chunk of blocks. A thread has the 3 x 3 block of two pairs.
template<class Exec>
struct MultiplyTiles {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int size = compliance_pairs * compliance_pairs;
  static constexpr int threads = BackendTraits<Exec>::is_device ? size : 1;
  Array<int, Exec> filled;
  Array<double, Exec> s, partial;
  int num_blocks, num_tiles, num_chunks, stamp;

  /// On cores: all 24 x 24 sums, eight rows at a time, by blocks that registers hold.
  KOKKOS_FUNCTION void multiply_all(int upper, int lower, int first, int last, double* out) const {
    constexpr int pairs = compliance_pairs, width = 3 * pairs, part = 4;
    const int stride = width * num_tiles;
    double sum[width][width] = {};
    for (int block = first; block < last; ++block) {
      if (filled(block * num_tiles + upper) != stamp || filled(block * num_tiles + lower) != stamp)
        continue;
      const double* const row = &s(std::int64_t(block) * int(compliance_block) * stride);
      const double *const a = row + width * upper, *const b = row + width * lower;
      for (int i = 0; i < width; i += part)
        for (int j = 0; j < width; j += part) {
          double own[part][part];
          for (int c = 0; c < part; ++c)
            for (int d = 0; d < part; ++d)
              own[c][d] = sum[i + c][j + d];
          for (int r = 0; r < int(compliance_block); ++r) {
            const double *const x = a + r * stride + i, *const y = b + r * stride + j;
            for (int c = 0; c < part; ++c)
              for (int d = 0; d < part; ++d)
                own[c][d] += x[c] * y[d];
          }
          for (int c = 0; c < part; ++c)
            for (int d = 0; d < part; ++d)
              sum[i + c][j + d] = own[c][d];
        }
    }
    for (int i = 0; i < width; ++i)
      for (int j = 0; j < width; ++j)
        out[(3 * (i % 3) + j % 3) * int(size) + i / 3 * pairs + j / 3] = sum[i][j];
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int num_both = num_tiles * (num_tiles + 1) / 2;
    const int chunk = team.league_rank() / num_both, both = team.league_rank() % num_both;
    int upper = 0, before = 0; // tile rows of the lower triangle have 1, 2, 3, ... tiles
    while (before + upper + 1 <= both)
      before += ++upper;
    const int lower = both - before;
    const int first = int(std::int64_t(num_blocks) * chunk / num_chunks);
    const int last = int(std::int64_t(num_blocks) * (chunk + 1) / num_chunks);
    const int stride = 3 * int(compliance_pairs) * num_tiles;
    double* out = &partial(std::int64_t(team.league_rank()) * 9 * int(size));
    if (threads == 1) {
      multiply_all(upper, lower, first, last, out);
      return;
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(size)), [&](int thread) {
      const int i = thread / int(compliance_pairs), j = thread % int(compliance_pairs);
      double sum[9] = {};
      for (int block = first; block < last; ++block) {
        if (filled(block * num_tiles + upper) != stamp ||
            filled(block * num_tiles + lower) != stamp)
          continue;
        const double* row = &s(std::int64_t(block) * int(compliance_block) * stride);
        for (int r = 0; r < int(compliance_block); ++r) {
          const double* a = row + r * stride + 3 * (int(compliance_pairs) * upper + i);
          const double* b = row + r * stride + 3 * (int(compliance_pairs) * lower + j);
          for (int c = 0; c < 3; ++c)
            for (int d = 0; d < 3; ++d)
              sum[3 * c + d] += a[c] * b[d];
        }
      }
      for (int cd = 0; cd < 9; ++cd)
        out[cd * int(size) + thread] = sum[cd];
    });
  }
};

/// One 3 x 3 block and its mirror image, from all chunks.
template<class Exec>
struct SumTiles {
  static constexpr int size = compliance_pairs * compliance_pairs;
  Array<double, Exec> partial, value;
  double scale;
  int num_pairs, num_tiles, num_chunks;

  KOKKOS_FUNCTION void operator()(int entry) const {
    const int tile_pairs = int(compliance_pairs), stride = 3 * tile_pairs * num_tiles;
    const int p = entry / (tile_pairs * num_tiles), q = entry % (tile_pairs * num_tiles);
    const int upper = p / tile_pairs, lower = q / tile_pairs;
    if (lower > upper || (lower == upper && q > p))
      return;
    const int num_both = num_tiles * (num_tiles + 1) / 2, both = upper * (upper + 1) / 2 + lower;
    const int thread = p % tile_pairs * tile_pairs + q % tile_pairs;
    for (int cd = 0; cd < 9; ++cd) {
      double sum = 0;
      for (int chunk = 0; chunk < num_chunks; ++chunk)
        sum += partial((std::int64_t(chunk * num_both + both) * 9 + cd) * int(size) + thread);
      const int c = cd / 3, d = cd % 3;
      value(std::int64_t(3 * p + c) * stride + 3 * q + d) = scale * sum;
      value(std::int64_t(3 * q + d) * stride + 3 * p + c) = scale * sum;
    }
  }
};

template<class T, class Exec>
void make_room(const Exec& exec, std::int64_t n, Array<T, Exec>& array, const char* label) {
  if (std::int64_t(array.extent(0)) < n) {
    array = {}; // before there is another
    array = make_zeros<T>(exec, n + n / 2, label);
  }
}

} // namespace detail

/// compliance = scale H A^-1 H^T for the pairs, at least one; the factor has one band. `rotation`
/// [num_nodes, 9] turns each node's axes from where the factor was made to where they are, A^-1 = R
/// W^T D^-1 W R^T; or it is empty. Deterministic: equal bits on equal backends. Allocates only
/// where there is more to store than ever. Fences.
template<class Exec, class Storage>
void make_compliance(const Exec& exec, const ContactPairs<Exec>& pairs,
                     const InverseFactor<Exec, Storage>& factor,
                     const Array<double, Exec>& rotation, double scale,
                     ComplianceSpace<Exec>& space, Compliance<Exec>& compliance) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using detail::make_room;
  const FactorPatternArrays<Exec>& pattern = factor.pattern;
  OSSATURA_REQUIRE(factor.num_bands == 1, "the compliance from an inverse factor of "
                                              << factor.num_bands << " bands; it takes one");
  const int num_pairs = pairs.num_pairs;
  const int num_tiles = (num_pairs + detail::compliance_pairs - 1) / detail::compliance_pairs;
  compliance.num_pairs = num_pairs;
  compliance.stride = 3 * detail::compliance_pairs * num_tiles;
  const std::int64_t stride = compliance.stride;
  OSSATURA_REQUIRE(stride * num_pairs < std::int64_t(1) << 31,
                   num_pairs << " contacts at once: make the contact distance smaller");

  const int stamp = ++space.stamp;
  make_room(exec, pattern.num_panels, space.mark, "ossatura::compliance::mark");
  const std::int64_t most_blocks =
      3 * std::int64_t(pattern.num_nodes) / detail::compliance_block + pattern.num_panels;
  make_room(exec, most_blocks, space.block_panel, "ossatura::compliance::block_panel");
  make_room(exec, most_blocks, space.block_first, "ossatura::compliance::block_first");
  Kokkos::parallel_for(
      "ossatura::make_compliance::mark", Range(exec, 0, 4 * num_pairs),
      detail::MarkAncestors<Exec>{pairs, pattern.panel_of, pattern.parent, space.mark, stamp});
  int num_blocks = 0;
  Kokkos::parallel_scan("ossatura::make_compliance::list", Range(exec, 0, pattern.num_panels),
                        detail::ListBlocks<Exec>{pattern.first, space.mark, space.block_panel,
                                                 space.block_first, stamp},
                        num_blocks);
  fence(exec, "ossatura::make_compliance");

  make_room(exec, std::int64_t(num_blocks) * num_tiles, space.filled,
            "ossatura::compliance::filled");
  make_room(exec, num_blocks * stride * detail::compliance_block, space.s,
            "ossatura::compliance::s");
  Kokkos::parallel_for("ossatura::make_compliance::fill",
                       Policy(exec, num_blocks, BackendTraits<Exec>::is_device ? 64 : 1),
                       detail::FillComplianceRows<Exec, Storage>{
                           pairs.pair, pattern.first, pattern.subtree_first, factor.origin,
                           factor.stride, factor.begin, factor.value, factor.inverse_pivot,
                           rotation, space.block_panel, space.block_first, space.filled, space.s,
                           num_pairs, num_tiles, stamp});

  // Few pairs of tiles are cut into chunks of rows, so that a device has teams enough.
  using Multiply = detail::MultiplyTiles<Exec>;
  const int num_both = num_tiles * (num_tiles + 1) / 2;
  const int wanted = BackendTraits<Exec>::is_device ? 1024 / num_both : 1;
  const int most = (num_blocks + 7) / 8;
  const int num_chunks = wanted < 1 ? 1 : wanted < most ? wanted : most;
  make_room(exec, std::int64_t(num_chunks) * num_both * 9 * Multiply::size, space.partial,
            "ossatura::compliance::partial");
  make_room(exec, 3 * num_pairs * stride, compliance.value, "ossatura::compliance");
  Kokkos::parallel_for(
      "ossatura::make_compliance::multiply",
      Policy(exec, num_both * num_chunks, int(Multiply::threads)),
      Multiply{space.filled, space.s, space.partial, num_blocks, num_tiles, num_chunks, stamp});
  Kokkos::parallel_for("ossatura::make_compliance::sum",
                       Range(exec, 0, num_pairs * num_tiles * detail::compliance_pairs),
                       detail::SumTiles<Exec>{space.partial, compliance.value, scale, num_pairs,
                                              num_tiles, num_chunks});
}

} // namespace ossatura
