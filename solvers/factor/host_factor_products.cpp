// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/factor/host_factor_products.hpp>

#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/core/parallel/lanes.hpp>

// One source for all processors: the bodies below are inlined into a function for each, whose
// attribute says what it may use. Vectors that the build's own target has not got stay within.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define OSSATURA_HAS_TARGETS 1
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

// Sums stay in registers where loops over them are gone; -O2 leaves these as they are.
#if defined(__clang__)
#define OSSATURA_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define OSSATURA_UNROLL _Pragma("GCC unroll 8")
#else
#define OSSATURA_UNROLL
#endif

// GCC reads what lies side by side as one vector and permutes it, on the ports that multiply, where
// reading each alone costs nothing.
#if defined(OSSATURA_HAS_TARGETS) && !defined(__clang__)
#define OSSATURA_KEEP_APART(pointer) asm("" : "+r"(pointer))
#else
#define OSSATURA_KEEP_APART(pointer)
#endif

namespace ossatura {

namespace {

/// Whether sums start from what is there.
enum class Into { zero, sums };

template<Into into, int Rows, int Packs, int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void multiply_tile(int k, const Scalar* p, std::ptrdiff_t ldp,
                                                 const Scalar* q, std::ptrdiff_t ldq, Scalar* out,
                                                 std::ptrdiff_t ldo) {
  Pack<Scalar, N> sum[Rows][Packs];
  OSSATURA_UNROLL
  for (int r = 0; r < Rows; ++r)
    OSSATURA_UNROLL
  for (int c = 0; c < Packs; ++c)
    sum[r][c] =
        into == Into::sums ? load_pack<N>(out + r * ldo + c * N) : Pack<Scalar, N>(Scalar(0));
  for (int l = 0; l < k; ++l, p += ldp, q += ldq) {
    Pack<Scalar, N> row[Packs];
    OSSATURA_UNROLL
    for (int c = 0; c < Packs; ++c)
      row[c] = load_pack<N>(q + c * N);
    OSSATURA_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const Scalar* own = p + r;
      OSSATURA_KEEP_APART(own);
      const Pack<Scalar, N> scale(*own);
      OSSATURA_UNROLL
      for (int c = 0; c < Packs; ++c)
        sum[r][c] += scale * row[c];
    }
  }
  OSSATURA_UNROLL
  for (int r = 0; r < Rows; ++r)
    OSSATURA_UNROLL
  for (int c = 0; c < Packs; ++c)
    store_pack<N>(out + r * ldo + c * N, sum[r][c]);
}

/// One column, by packs of its rows.
template<Into into, int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void
multiply_column(int m, int k, const Scalar* p, std::ptrdiff_t ldp, const Scalar* q,
                std::ptrdiff_t ldq, Scalar* out, std::ptrdiff_t ldo) {
  int r = 0;
  for (; r + N <= m; r += N) {
    Pack<Scalar, N> sum(Scalar(0));
    if (into == Into::sums)
      for (int i = 0; i < N; ++i)
        sum.value[i] = out[(r + i) * ldo];
    for (int l = 0; l < k; ++l)
      sum += load_pack<N>(p + l * ldp + r) * Pack<Scalar, N>(q[l * ldq]);
    for (int i = 0; i < N; ++i)
      out[(r + i) * ldo] = sum.value[i];
  }
  for (; r < m; ++r) {
    Scalar sum = into == Into::sums ? out[r * ldo] : Scalar(0);
    for (int l = 0; l < k; ++l)
      sum += p[l * ldp + r] * q[l * ldq];
    out[r * ldo] = sum;
  }
}

/// All rows of the columns that fill tiles of Packs packs; returns where they end.
template<Into into, int Packs, int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION int
multiply_columns(int first, int m, int n, int k, const Scalar* p, std::ptrdiff_t ldp,
                 const Scalar* q, std::ptrdiff_t ldq, Scalar* out, std::ptrdiff_t ldo) {
  constexpr int width = Packs * N;
  for (; first + width <= n; first += width) {
    int r = 0; // mostly a multiple of three: the components of nodes
    for (; r + 6 <= m; r += 6)
      multiply_tile<into, 6, Packs, N>(k, p + r, ldp, q + first, ldq, out + r * ldo + first, ldo);
    for (; r + 3 <= m; r += 3)
      multiply_tile<into, 3, Packs, N>(k, p + r, ldp, q + first, ldq, out + r * ldo + first, ldo);
    for (; r < m; ++r)
      multiply_tile<into, 1, Packs, N>(k, p + r, ldp, q + first, ldq, out + r * ldo + first, ldo);
  }
  return first;
}

/// Packs of N, then narrower ones for what is left.
template<Into into, int Packs, int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void
multiply_all(int m, int n, int k, const Scalar* p, std::ptrdiff_t ldp, const Scalar* q,
             std::ptrdiff_t ldq, Scalar* out, std::ptrdiff_t ldo) {
  int c = multiply_columns<into, Packs, N>(0, m, n, k, p, ldp, q, ldq, out, ldo);
  c = multiply_columns<into, 1, N>(c, m, n, k, p, ldp, q, ldq, out, ldo);
  if constexpr (N > 8)
    c = multiply_columns<into, 1, 8>(c, m, n, k, p, ldp, q, ldq, out, ldo);
  if constexpr (N > 4)
    c = multiply_columns<into, 1, 4>(c, m, n, k, p, ldp, q, ldq, out, ldo);
  if constexpr (N > 2)
    c = multiply_columns<into, 1, 2>(c, m, n, k, p, ldp, q, ldq, out, ldo);
  for (; c < n; ++c)
    multiply_column<into, N>(m, k, p, ldp, q + c, ldq, out + c, ldo);
}

template<int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void subtract_all(int n, Scalar s, const Scalar* x, Scalar* y) {
  const Pack<Scalar, N> scale(s);
  int i = 0;
  for (; i + N <= n; i += N)
    store_pack<N>(y + i, load_pack<N>(y + i) - scale * load_pack<N>(x + i));
  for (; i < n; ++i)
    y[i] -= s * x[i];
}

template<int N>
OSSATURA_FORCEINLINE_FUNCTION void scale_all(int n, double s, double* y) {
  const Pack<double, N> scale(s);
  int i = 0;
  for (; i + N <= n; i += N)
    store_pack<N>(y + i, load_pack<N>(y + i) * scale);
  for (; i < n; ++i)
    y[i] *= s;
}

#define OSSATURA_PRODUCTS(name, attribute, into, lanes, packs, Scalar)                             \
  attribute void product_##name(int m, int n, int k, const Scalar* p, std::ptrdiff_t ldp,          \
                                const Scalar* q, std::ptrdiff_t ldq, Scalar* out,                  \
                                std::ptrdiff_t ldo) {                                              \
    multiply_all<Into::into, packs, lanes>(m, n, k, p, ldp, q, ldq, out, ldo);                     \
  }                                                                                                \
  attribute void subtract_##name(int n, Scalar s, const Scalar* x, Scalar* y) {                    \
    subtract_all<lanes>(n, s, x, y);                                                               \
  }

#define OSSATURA_SCALE(name, attribute, lanes)                                                     \
  attribute void scale_##name(int n, double s, double* y) {                                        \
    scale_all<lanes>(n, s, y);                                                                     \
  }

OSSATURA_PRODUCTS(plain, , sums, 2, 2, double)
OSSATURA_PRODUCTS(plain, , zero, 4, 2, float)
OSSATURA_SCALE(plain, , 2)
#if defined(OSSATURA_HAS_TARGETS)
OSSATURA_PRODUCTS(avx2, __attribute__((target("avx2,fma"))), sums, 4, 2, double)
OSSATURA_SCALE(avx2, __attribute__((target("avx2,fma"))), 4)
OSSATURA_PRODUCTS(avx2, __attribute__((target("avx2,fma"))), zero, 8, 2, float)
OSSATURA_PRODUCTS(avx512, __attribute__((target("avx512f,fma"))), sums, 8, 3, double)
OSSATURA_SCALE(avx512, __attribute__((target("avx512f,fma"))), 8)
OSSATURA_PRODUCTS(avx512, __attribute__((target("avx512f,fma"))), zero, 16, 3, float)
#endif
#undef OSSATURA_PRODUCTS
#undef OSSATURA_SCALE

template<class Scalar>
void multiply_here(int m, int n, int k, const Scalar* p, std::ptrdiff_t ldp, const Scalar* q,
                   std::ptrdiff_t ldq, Scalar* out, std::ptrdiff_t ldo) {
#if defined(OSSATURA_HAS_TARGETS)
  static const InstructionSet set = best_instruction_set();
  if (set == InstructionSet::avx512)
    return product_avx512(m, n, k, p, ldp, q, ldq, out, ldo);
  if (set == InstructionSet::avx2)
    return product_avx2(m, n, k, p, ldp, q, ldq, out, ldo);
#endif
  product_plain(m, n, k, p, ldp, q, ldq, out, ldo);
}

template<class Scalar>
void subtract_here(int n, Scalar s, const Scalar* x, Scalar* y) {
#if defined(OSSATURA_HAS_TARGETS)
  static const InstructionSet set = best_instruction_set();
  if (set == InstructionSet::avx512)
    return subtract_avx512(n, s, x, y);
  if (set == InstructionSet::avx2)
    return subtract_avx2(n, s, x, y);
#endif
  subtract_plain(n, s, x, y);
}

} // namespace

void add_transposed_product(int m, int n, int k, const double* p, std::ptrdiff_t ldp,
                            const double* q, std::ptrdiff_t ldq, double* out, std::ptrdiff_t ldo) {
  multiply_here(m, n, k, p, ldp, q, ldq, out, ldo);
}
void transposed_product(int m, int n, int k, const float* p, std::ptrdiff_t ldp, const float* q,
                        std::ptrdiff_t ldq, float* out, std::ptrdiff_t ldo) {
  multiply_here(m, n, k, p, ldp, q, ldq, out, ldo);
}

void subtract_scaled(int n, double s, const double* x, double* y) {
  subtract_here(n, s, x, y);
}
void subtract_scaled(int n, float s, const float* x, float* y) {
  subtract_here(n, s, x, y);
}

void scale_entries(int n, double s, double* y) {
#if defined(OSSATURA_HAS_TARGETS)
  static const InstructionSet set = best_instruction_set();
  if (set == InstructionSet::avx512)
    return scale_avx512(n, s, y);
  if (set == InstructionSet::avx2)
    return scale_avx2(n, s, y);
#endif
  scale_plain(n, s, y);
}

} // namespace ossatura
