// SPDX-License-Identifier: Apache-2.0
// Element vectors are kept element by element, [num_slots, 3] with the slots of
// kernels/pfem/mode_gather.hpp: an element has its own copy of each of its modes, in the sign in
// which the element sees the mode. A mode of k elements has k copies, each divided by sqrt(k): dot
// products over slots are then dot products over modes, in which a shared mode counts once.
#pragma once

#include <ossatura/kernels/pfem/mode_gather.hpp>

namespace ossatura {

namespace detail {

template<class Exec>
struct SlotRoots {
  ArrayPointer<const int> begin;
  ArrayPointer<const std::uint32_t> slot;
  ArrayPointer<double> root;

  /// A mode.
  KOKKOS_FUNCTION void operator()(std::int64_t mode) const {
    const double own = sqrt(double(begin(mode + 1) - begin(mode)));
    for (int k = begin(mode); k < begin(mode + 1); ++k)
      root(slot(k) >> 1) = own;
  }
};

template<class Exec>
struct UnscaleSlots {
  ArrayPointer<const double> root, x;
  ArrayPointer<double> copies;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { copies(i) = root(i / 3) * x(i); }
};

/// Gives a value of a component of a mode to all its slots.
template<class Exec>
struct SpreadToSlots {
  ArrayPointer<const int> begin;
  ArrayPointer<const std::uint32_t> slot;
  ArrayPointer<double> x;

  KOKKOS_FUNCTION void spread(std::int64_t mode, int c, double value) const {
    const int first = begin(mode), last = begin(mode + 1);
    const double scaled = value / sqrt(double(last > first ? last - first : 1));
    for (int k = first; k < last; ++k)
      x(3 * std::int64_t(slot(k) >> 1) + c) = slot(k) & 1u ? -scaled : scaled;
  }
};

template<class Exec>
struct SpreadModes {
  SpreadToSlots<Exec> to;
  ArrayPointer<const double> u;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to.spread(i / 3, int(i % 3), u(i)); }
};

/// scale (f - the sum of a mode's slots) at free components, 0 where held; without f the sum.
template<class Exec>
struct GatherScatter {
  SpreadToSlots<Exec> to;
  ArrayPointer<const double> product;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> f; ///< or none
  double scale;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t mode = i / 3;
    const int c = int(i % 3);
    double sum = 0;
    if (!(held(mode) >> c & 1)) {
      for (int k = to.begin(mode); k < to.begin(mode + 1); ++k) {
        const double term = product(3 * std::int64_t(to.slot(k) >> 1) + c);
        sum += to.slot(k) & 1u ? -term : term;
      }
      if (f.data)
        sum = scale * (f(i) - sum);
    }
    to.spread(mode, c, sum);
  }
};

template<class Exec>
struct CollectModes {
  ArrayPointer<const int> begin;
  ArrayPointer<const std::uint32_t> slot;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> x;
  ArrayPointer<double> u;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t mode = i / 3;
    const int c = int(i % 3), first = begin(mode), count = begin(mode + 1) - first;
    if (count == 0 || held(mode) >> c & 1)
      return;
    const double own = x(3 * std::int64_t(slot(first) >> 1) + c) * sqrt(double(count));
    u(i) = slot(first) & 1u ? -own : own;
  }
};

/// The diagonals of packed matrices, [num_elem, rows].
template<class Exec>
struct PackedDiagonal {
  std::int64_t rows;
  ArrayPointer<const double> matrix;
  ArrayPointer<double> diagonal;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t elem = i / rows, row = i % rows;
    diagonal(i) = matrix(elem * (rows * (rows + 1) / 2) + row * (row + 3) / 2);
  }
};

/// One over the sum of the diagonals of a mode's slots, for all of these; 0 where held.
template<class Exec>
struct InvertSlotDiagonal {
  ArrayPointer<const int> begin;
  ArrayPointer<const std::uint32_t> slot;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<double> diagonal;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t mode = i / 3;
    const int c = int(i % 3);
    double sum = 0;
    for (int k = begin(mode); k < begin(mode + 1); ++k)
      sum += diagonal(3 * std::int64_t(slot(k) >> 1) + c);
    const double inverse = held(mode) >> c & 1 || !(sum > 0) ? 0 : 1 / sum;
    for (int k = begin(mode); k < begin(mode + 1); ++k)
      diagonal(3 * std::int64_t(slot(k) >> 1) + c) = inverse;
  }
};

} // namespace detail

/// root [num_slots] = sqrt(k) where a mode has k slots, 0 at slots of no mode. Does not fence.
template<class Exec>
Array<double, Exec> make_slot_roots(const Exec& exec, const ModeGather<Exec>& gather) {
  const auto root = make_zeros<double>(exec, gather.num_slots(), "ossatura::slot_roots");
  Kokkos::parallel_for("ossatura::make_slot_roots", range(exec, gather.begin.extent(0) - 1),
                       detail::SlotRoots<Exec>{gather.begin, gather.slot, root});
  return root;
}

/// copies [num_slots, 3] = what elements see of the vector x. Does not fence.
template<class Exec>
void unscale_slots(const Exec& exec, const Array<double, Exec>& root, const Array<double, Exec>& x,
                   const Array<double, Exec>& copies) {
  Kokkos::parallel_for("ossatura::unscale_slots", range(exec, x.extent(0)),
                       detail::UnscaleSlots<Exec>{root, x, copies});
}

/// The vector x of u [num_modes, 3]. Slots of no mode stay as they are. Does not fence.
template<class Exec>
void spread_modes(const Exec& exec, const ModeGather<Exec>& gather, const Array<double, Exec>& u,
                  const Array<double, Exec>& x) {
  Kokkos::parallel_for("ossatura::spread_modes", range(exec, u.extent(0)),
                       detail::SpreadModes<Exec>{{gather.begin, gather.slot, x}, u});
}

/// u [num_modes, 3] of the vector x at free components; others and modes of no element stay. Does
/// not fence.
template<class Exec>
void collect_modes(const Exec& exec, const ModeGather<Exec>& gather,
                   const Array<std::uint8_t, Exec>& held, const Array<double, Exec>& x,
                   const Array<double, Exec>& u) {
  Kokkos::parallel_for("ossatura::collect_modes", range(exec, u.extent(0)),
                       detail::CollectModes<Exec>{gather.begin, gather.slot, held, x, u});
}

/// The vector x of the sums of `product` [num_slots, 3] over the slots of each mode, 0 where held:
/// the one exchange between elements in a product. Does not fence.
template<class Exec>
void gather_scatter(const Exec& exec, const ModeGather<Exec>& gather,
                    const Array<std::uint8_t, Exec>& held, const Array<double, Exec>& product,
                    const Array<double, Exec>& x) {
  Kokkos::parallel_for(
      "ossatura::gather_scatter", range(exec, 3 * (gather.begin.extent(0) - 1)),
      detail::GatherScatter<Exec>{{gather.begin, gather.slot, x}, product, held, {}, 1});
}

/// The vector r of scale (f - these sums), f [num_modes, 3], 0 where held. Does not fence.
template<class Exec>
void gather_scatter_residual(const Exec& exec, const ModeGather<Exec>& gather,
                             const Array<std::uint8_t, Exec>& held, const Array<double, Exec>& f,
                             double scale, const Array<double, Exec>& product,
                             const Array<double, Exec>& r) {
  Kokkos::parallel_for(
      "ossatura::gather_scatter_residual", range(exec, f.extent(0)),
      detail::GatherScatter<Exec>{{gather.begin, gather.slot, r}, product, held, f, scale});
}

/// diagonal [num_elem, rows] of packed matrices. Does not fence.
template<class Exec>
void packed_diagonal(const Exec& exec, std::int64_t rows, const Array<double, Exec>& matrix,
                     const Array<double, Exec>& diagonal) {
  Kokkos::parallel_for("ossatura::packed_diagonal", range(exec, diagonal.extent(0)),
                       detail::PackedDiagonal<Exec>{rows, matrix, diagonal});
}

/// Makes the diagonals of element matrices [num_slots, 3] the inverse of the diagonal of their sum,
/// 0 where held. Does not fence.
template<class Exec>
void invert_slot_diagonal(const Exec& exec, const ModeGather<Exec>& gather,
                          const Array<std::uint8_t, Exec>& held,
                          const Array<double, Exec>& diagonal) {
  Kokkos::parallel_for("ossatura::invert_slot_diagonal",
                       range(exec, 3 * (gather.begin.extent(0) - 1)),
                       detail::InvertSlotDiagonal<Exec>{gather.begin, gather.slot, held, diagonal});
}

} // namespace ossatura
