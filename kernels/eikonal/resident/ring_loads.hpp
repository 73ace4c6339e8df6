// SPDX-License-Identifier: Apache-2.0
// Loads of what a ring metric keeps, in the sizes that devices load at once.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/eikonal/ring_metric.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// The numbers of a tetrahedron, by loads of 16 bytes.
__device__ __forceinline__ RingEntry<float> load_ring_entry(const RingEntry<float>* entry) {
  const float4* const p = reinterpret_cast<const float4*>(entry);
  const float4 a = __ldg(p), b = __ldg(p + 1);
  return {{a.x, a.y, a.z, a.w, b.x, b.y}, __float_as_uint(b.z)};
}
__device__ __forceinline__ RingEntry<double> load_ring_entry(const RingEntry<double>* entry) {
  const double2* const p = reinterpret_cast<const double2*>(entry);
  const double2 a = __ldg(p), b = __ldg(p + 1), c = __ldg(p + 2);
  return {{a.x, a.y, b.x, b.y, c.x, c.y}, __ldg(&entry->face)};
}
__device__ __forceinline__ RingAndStar load_ring_and_star(const RingAndStar* point) {
  const int4 p = __ldg(reinterpret_cast<const int4*>(point));
  return {p.x, p.y, p.z, p.w};
}
#endif

} // namespace ossatura::detail
