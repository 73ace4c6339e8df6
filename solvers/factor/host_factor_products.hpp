// SPDX-License-Identifier: Apache-2.0
// These small dense products serve factors on cores, in the widest vectors that the processor at
// hand has. The choice falls at run time, because a build for every x86-64 may use SSE2 alone.
#pragma once

#include <cstddef>

namespace ossatura {

/// out(r, c) = sum over l of p(l, r) q(l, c), all row-major: p [k, m], q [k, n], out [m, n], with
/// leading dimensions. Sums run over l in order, so that an entry depends on its own column and row
/// alone, and on no other entry nor on m; nor on n where n is a multiple of 16 (floats).
void transposed_product(int m, int n, int k, const float* p, std::ptrdiff_t ldp, const float* q,
                        std::ptrdiff_t ldq, float* out, std::ptrdiff_t ldo);

/// The same added to `out`, which may lie in other columns of the matrix that q is of.
void add_transposed_product(int m, int n, int k, const double* p, std::ptrdiff_t ldp,
                            const double* q, std::ptrdiff_t ldq, double* out, std::ptrdiff_t ldo);

/// y -= s x for n entries.
void subtract_scaled(int n, double s, const double* x, double* y);
void subtract_scaled(int n, float s, const float* x, float* y);

/// y *= s for n entries.
void scale_entries(int n, double s, double* y);

} // namespace ossatura
