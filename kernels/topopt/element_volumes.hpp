// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

/// ElementVolumes are those of a list, or all the same.
template<class Exec>
struct ElementVolumes {
  Array<double, Exec> value;  ///< [num_elem], or empty
  Array<float, Exec> is_elem; ///< then [num_elem]: greater than 0 at elements, elsewhere is none
  double each = 0;            ///< of these

  std::int64_t size() const {
    return std::int64_t(value.extent(0) > 0 ? value.extent(0) : is_elem.extent(0));
  }
  KOKKOS_FUNCTION double operator()(std::int64_t e) const {
    return value.extent(0) > 0 ? value(e) : is_elem(e) > 0 ? each : 0.0;
  }
};

namespace detail {
template<class Exec>
struct ScaleVolumes {
  ElementVolumes<Exec> volume;
  double factor;
  Array<double, Exec> result;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { result(e) = factor * volume(e); }
};
} // namespace detail

/// result(e) = factor volume(e). Does not fence.
template<class Exec>
void scale_volumes(const Exec& exec, double factor, const ElementVolumes<Exec>& volume,
                   const Array<double, Exec>& result) {
  Kokkos::parallel_for("ossatura::scale_volumes", range(exec, result.extent(0)),
                       detail::ScaleVolumes<Exec>{volume, factor, result});
}

} // namespace ossatura
