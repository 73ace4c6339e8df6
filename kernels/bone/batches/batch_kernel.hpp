// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of batch_products.hpp; the sources beside it alone include them,
// each for a `Target` of its own with
//
//     static constexpr int register_bytes;
//
// A target is a type of one source, so that the linker cannot mix what is compiled with different
// flags.
#pragma once

#include <ossatura/core/parallel/node_lanes.hpp>
#include <ossatura/kernels/bone/batches/batch_products.hpp>
#include <ossatura/kernels/bone/element.hpp>

#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ossatura::detail {

/// Eight elements: those of lanes 0 .. W - 1, then W .. 2 W - 1, and so on.
template<class Target, class Scalar>
struct Batch {
  using Nodes = NodeLanes<Target, Scalar>;
  using Values = typename Nodes::Values;
  static constexpr int W = Nodes::W, parts = Nodes::parts;

  /// u[part][3 v + c]: the products of W elements each.
  template<class Index>
  OSSATURA_FORCEINLINE_FUNCTION static void
  multiply(const Scalar* x, const Index (&from)[batch_size][8], const Scalar (&lambda)[batch_size],
           const Scalar (&mu)[batch_size], Values (&u)[parts][24]) {
    for (int part = 0; part < parts; ++part) {
      Values* const u_part = u[part];
#pragma GCC unroll 8
      for (int v = 0; v < 8; ++v)
        Nodes::gather(x, from + W * part, v, u_part + 3 * v);
      for (int c = 0; c < 3; ++c)
        transform_vertices(u_part + c);
      Values l, m;
      for (int lane = 0; lane < W; ++lane) {
        l.value[lane] = lambda[W * part + lane];
        m.value[lane] = mu[W * part + lane];
      }
      apply_mode_stiffness(l, m, u_part);
      for (int c = 0; c < 3; ++c)
        transform_modes(u_part + c);
    }
  }

  /// Adds the products of eight elements, corner after corner. Corner v of element e is the node at
  /// x + from[e][v] and y + to[e][v]; `Stride` numbers of y are a node's.
  template<int Stride, class Index>
  OSSATURA_FORCEINLINE_FUNCTION static void
  add_all(const Scalar* x, const Index (&from)[batch_size][8], const Scalar (&lambda)[batch_size],
          const Scalar (&mu)[batch_size], const Index (&to)[batch_size][8], Scalar* y) {
    Values u[parts][24];
    multiply(x, from, lambda, mu, u);
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v)
      for (int part = 0; part < parts; ++part) {
        if constexpr (Stride == 3)
          Nodes::scatter_three(u[part] + 3 * v, to + W * part, v, y);
        else
          Nodes::scatter_four(u[part] + 3 * v, to + W * part, v, y);
      }
  }

  /// The same where an element has the last node of x, behind which nothing may be read.
  template<int Stride, class Index>
  __attribute__((noinline)) static void
  add_copied(const Scalar* x, const Index (&from)[batch_size][8],
             const Scalar (&lambda)[batch_size], const Scalar (&mu)[batch_size],
             const Index (&to)[batch_size][8], Scalar* y) {
    Scalar copy[batch_size * 8 * 4];
    Index from_copy[batch_size][8];
    for (int e = 0; e < batch_size; ++e)
      for (int v = 0; v < 8; ++v) {
        from_copy[e][v] = Index(4 * (8 * e + v));
        for (int c = 0; c < 3; ++c)
          copy[4 * (8 * e + v) + c] = x[from[e][v] + c];
        copy[4 * (8 * e + v) + 3] = 0;
      }
    add_all<Stride>(copy, from_copy, lambda, mu, to, y);
  }
};

/// A batch that is being filled.
template<class Scalar, class Index>
struct BatchElements {
  alignas(64) Index from[batch_size][8], to[batch_size][8];
  Scalar lambda[batch_size], mu[batch_size];

  OSSATURA_FORCEINLINE_FUNCTION void set_constants(const BatchInput<Scalar>& in, int lane,
                                                   int element) {
    lambda[lane] = in.lambda_scale * Scalar(in.lambda[element]);
    mu[lane] = in.mu_scale * Scalar(in.mu[element]);
  }
  /// Adds the products of `size` elements. Lanes beyond them take another without stiffness, its
  /// corners in opposite order: add_pairs takes no node twice.
  template<class Target, int Stride>
  OSSATURA_FORCEINLINE_FUNCTION void add(const Scalar* x, int size, bool has_last, Scalar* y) {
    for (int lane = size; lane < batch_size; ++lane) {
      const int pair = lane ^ (sizeof(Scalar) == 4 ? 1 : 2), other = pair < size ? pair : 0;
      for (int v = 0; v < 8; ++v) {
        from[lane][v] = from[other][7 - v];
        to[lane][v] = to[other][7 - v];
      }
      lambda[lane] = mu[lane] = 0;
    }
    keep_in_memory(*this);
    if (has_last)
      Batch<Target, Scalar>::template add_copied<Stride>(x, from, lambda, mu, to, y);
    else
      Batch<Target, Scalar>::template add_all<Stride>(x, from, lambda, mu, to, y);
  }
};

/// corner[v] = lowest + distance[v - 1], corner[0] = lowest. `may_read_before`: the number before
/// the first may be read.
template<class Offset>
OSSATURA_FORCEINLINE_FUNCTION void add_distances(int lowest, const Offset* distance,
                                                 [[maybe_unused]] bool may_read_before,
                                                 int (&corner)[8]) {
#if defined(__AVX2__)
  // Compilers widen bytes one by one.
  if (sizeof(Offset) < 4 && may_read_before) {
    __m256i wide;
    if constexpr (sizeof(Offset) == 1)
      wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(distance - 1)));
    else
      wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(distance - 1)));
    wide = _mm256_blend_epi32(wide, _mm256_setzero_si256(), 1);
    wide = _mm256_add_epi32(wide, _mm256_set1_epi32(lowest));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(corner), wide);
    return;
  }
#endif
  corner[0] = lowest;
  for (int v = 1; v < 8; ++v)
    corner[v] = lowest + int(distance[v - 1]);
}

template<class Target, class Scalar, class Offset>
void add_offset_elements(const BatchInput<Scalar>& in, const int* lowest, const Offset* distance,
                         int count, Scalar* y) {
  // From the lowest node of the batch on; long distances need the longer numbers.
  using Index = std::conditional_t<sizeof(Offset) < 4, std::uint32_t, std::uint64_t>;
  for (int begin = 0; begin < count; begin += batch_size) {
    BatchElements<Scalar, Index> batch;
    const int size = count - begin < batch_size ? count - begin : batch_size;
    const int first = lowest[begin], last = int(in.num_nodes - 1) - first;
    bool has_last = false;
    for (int lane = 0; lane < size; ++lane) {
      const int e = begin + lane;
      int corner[8];
      add_distances(lowest[e] - first, distance + 7 * std::int64_t(e), e > 0, corner);
      for (int v = 0; v < 8; ++v)
        batch.from[lane][v] = batch.to[lane][v] = 3 * Index(corner[v]);
      has_last |= corner[7] == last; // the highest of an element's nodes
      batch.set_constants(in, lane, lowest[e]);
    }
    batch.template add<Target, 3>(in.x + 3 * std::int64_t(first), size, has_last,
                                  y + 3 * std::int64_t(first));
  }
}

template<class Target, class Index, class Scalar>
void add_cells_by(const BatchInput<Scalar>& in, const int* corner, const int* cell, int count,
                  int first, int num_owned, Scalar* sum) {
  const int last = int(in.num_nodes - 1);
  for (int begin = 0; begin < count; begin += batch_size) {
    BatchElements<Scalar, Index> batch;
    const int size = count - begin < batch_size ? count - begin : batch_size;
    bool has_last = false;
    for (int lane = 0; lane < size; ++lane) {
      const int e = cell[begin + lane];
      const int* const node = corner + 8 * std::int64_t(e);
      for (int v = 0; v < 8; ++v) {
        batch.from[lane][v] = 3 * Index(node[v]);
        // Before the first, too, that is beyond the last without a sign.
        const std::uint32_t owned = std::uint32_t(node[v]) - std::uint32_t(first);
        batch.to[lane][v] =
            4 * Index(owned < std::uint32_t(num_owned) ? owned : std::uint32_t(num_owned));
        has_last |= node[v] == last;
      }
      batch.set_constants(in, lane, e);
    }
    // Cells are not quite in the order of memory, and a batch is too long to look beyond.
    for (int next = begin + batch_size; next < count && next < begin + 2 * batch_size; ++next) {
      __builtin_prefetch(corner + 8 * std::int64_t(cell[next]));
      __builtin_prefetch(in.mu + cell[next]);
    }
    batch.template add<Target, 4>(in.x, size, has_last, sum);
  }
}

template<class Target, class Scalar>
void add_cells(const BatchInput<Scalar>& in, const int* corner, const int* cell, int count,
               int first, int num_owned, Scalar* sum) {
  if (in.num_nodes <= std::int64_t(std::uint32_t(-1) / 3))
    add_cells_by<Target, std::uint32_t>(in, corner, cell, count, first, num_owned, sum);
  else
    add_cells_by<Target, std::uint64_t>(in, corner, cell, count, first, num_owned, sum);
}

template<class Target, class Scalar>
constexpr BatchFunctions<Scalar> make_batch_functions() {
  return {&add_offset_elements<Target, Scalar, std::uint8_t>,
          &add_offset_elements<Target, Scalar, std::uint16_t>,
          &add_offset_elements<Target, Scalar, std::int32_t>, &add_cells<Target, Scalar>};
}

template<class Target>
constexpr BatchProducts make_batch_products() {
  return {make_batch_functions<Target, float>(), make_batch_functions<Target, double>()};
}

} // namespace ossatura::detail
