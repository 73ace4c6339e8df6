// SPDX-License-Identifier: Apache-2.0
// A mode gather moves vectors from the modes of a mesh to the modes of its elements and back. A
// *slot* is a mode of an element; slots are numbered through the first batch, element by element,
// then the next. Products write their results slot by slot, and each mode of the mesh sums its own
// slots in ascending order: the same bits for any number of threads. Or products write each result
// where its mode will look for it (SlotTargets), and modes sum what lies together.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/pfem/operator.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

template<class Exec>
struct ModeGather {
  std::vector<std::int64_t> first_slot; ///< [batches + 1]
  Array<int, Exec> begin;               ///< [num_modes + 1] into the next
  Array<std::uint32_t, Exec> slot;      ///< 2 slot, and 1 more if its sign is -1

  std::int64_t num_slots() const { return first_slot.back(); }
};

/// Where results of slots go: those of a mode side by side, in ascending order of their slots.
template<class Exec>
struct SlotTargets {
  Array<int, Exec> begin;            ///< [num_modes + 1] places of the results of a mode
  Array<std::uint32_t, Exec> target; ///< [num_slots] 2 place, and 1 more if its sign is -1
};

namespace detail {

/// Slots of modes that are not there have none.
template<class Exec>
struct ModeOfSlots {
  Array<int, Exec> signed_mode, mode;
  std::int64_t first;
  int num_modes;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int own = signed_mode(i);
    mode(first + i) = own < 0 ? num_modes : own / 2;
  }
};

template<class Exec>
struct SignOfSlots {
  Array<int, Exec> signed_mode;
  Array<std::uint32_t, Exec> negative;
  std::int64_t first;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    negative(first + i) = std::uint32_t(signed_mode(i)) & 1u;
  }
};

template<class Exec>
struct SignedSlots {
  Array<int, Exec> member;
  Array<std::uint32_t, Exec> negative, slot;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    slot(i) = 2 * std::uint32_t(member(i)) + negative(member(i));
  }
};

/// `width` numbers a slot.
template<class Exec, int width, bool with_sign>
struct SumSlots {
  ArrayPointer<const int> begin;
  ArrayPointer<const std::uint32_t> slot;
  ArrayPointer<const double> value;
  ArrayPointer<double> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t mode = i / width;
    const int c = int(i % width);
    double sum = 0;
    for (int k = begin(mode); k < begin(mode + 1); ++k) {
      const std::uint32_t own = slot(k);
      const double term = value(width * std::int64_t(own >> 1) + c);
      sum += with_sign && (own & 1u) ? -term : term;
    }
    y(i) = sum;
  }
};

template<class Exec>
struct TargetsOfSlots {
  Array<std::uint32_t, Exec> slot, target;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    target(slot(i) >> 1) = 2 * std::uint32_t(i) + (slot(i) & 1u);
  }
};

template<class Exec>
struct SumTargets {
  ArrayPointer<const int> begin;
  ArrayPointer<const double> value;
  ArrayPointer<double> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t mode = i / 3;
    const int c = int(i % 3), end = begin(mode + 1);
    double sum = 0;
    for (int k = begin(mode); k < end; ++k)
      sum += value(3 * std::int64_t(k) + c);
    y(i) = sum;
  }
};

} // namespace detail

/// Throws std::invalid_argument without lists of modes, and for more than 2^31 slots. Fences.
template<class Exec>
ModeGather<Exec> make_mode_gather(const Exec& exec, const HierarchicModel<Exec>& model) {
  ModeGather<Exec> gather;
  gather.first_slot.push_back(0);
  for (const HexaBatch<Exec>& batch : model.batch) {
    const std::int64_t slots = batch.num_elem * batch.num_modes;
    OSSATURA_REQUIRE(std::int64_t(batch.signed_mode.extent(0)) == slots,
                     batch.signed_mode.extent(0) << " modes are listed of " << slots);
    gather.first_slot.push_back(gather.first_slot.back() + slots);
  }
  const std::int64_t num_slots = gather.num_slots();
  OSSATURA_REQUIRE(num_slots < std::int64_t(1) << 31,
                   num_slots << " modes of elements: more than 31 bits count");
  const auto mode = make_uninitialized<int>(exec, num_slots, "ossatura::mode_gather::mode");
  const auto negative =
      make_uninitialized<std::uint32_t>(exec, num_slots, "ossatura::mode_gather::negative");
  for (std::size_t b = 0; b < model.batch.size(); ++b) {
    const Array<int, Exec>& own = model.batch[b].signed_mode;
    const std::int64_t first = gather.first_slot[b];
    Kokkos::parallel_for("ossatura::make_mode_gather::modes", range(exec, own.extent(0)),
                         detail::ModeOfSlots<Exec>{own, mode, first, model.num_modes});
    Kokkos::parallel_for("ossatura::make_mode_gather::signs", range(exec, own.extent(0)),
                         detail::SignOfSlots<Exec>{own, negative, first});
  }
  const InverseMap<Exec> inverse = invert_map(exec, mode, model.num_modes);
  gather.begin = inverse.begin;
  gather.slot = make_uninitialized<std::uint32_t>(exec, num_slots, "ossatura::mode_gather::slot");
  Kokkos::parallel_for("ossatura::make_mode_gather::slots", range(exec, num_slots),
                       detail::SignedSlots<Exec>{inverse.member, negative, gather.slot});
  fence(exec, "ossatura::make_mode_gather");
  return gather;
}

/// y_i = sum of the signed value of its slots; value [num_slots, 3], y [num_modes, 3]. Does not
/// fence.
template<class Exec>
void sum_slots(const Exec& exec, const ModeGather<Exec>& gather, const Array<double, Exec>& value,
               const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::sum_slots", range(exec, y.extent(0)),
                       detail::SumSlots<Exec, 3, true>{gather.begin, gather.slot, value, y});
}

/// Does not fence.
template<class Exec>
SlotTargets<Exec> make_slot_targets(const Exec& exec, const ModeGather<Exec>& gather) {
  // Slots of modes that are not there come last, and go where no mode looks.
  const SlotTargets<Exec> targets{
      gather.begin,
      make_uninitialized<std::uint32_t>(exec, gather.num_slots(), "ossatura::slot_targets")};
  Kokkos::parallel_for("ossatura::make_slot_targets", range(exec, gather.num_slots()),
                       detail::TargetsOfSlots<Exec>{gather.slot, targets.target});
  return targets;
}

/// y_i = sum of its results; value [num_slots, 3] by targets, signs applied; y [num_modes, 3]. Does
/// not fence.
template<class Exec>
void sum_targets(const Exec& exec, const SlotTargets<Exec>& targets,
                 const Array<double, Exec>& value, const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::sum_targets", range(exec, y.extent(0)),
                       detail::SumTargets<Exec>{targets.begin, value, y});
}

/// The same for blocks of a diagonal, value [num_slots, 9], block [num_modes, 9]: two signs are
/// none. Does not fence.
template<class Exec>
void sum_slot_blocks(const Exec& exec, const ModeGather<Exec>& gather,
                     const Array<double, Exec>& value, const Array<double, Exec>& block) {
  Kokkos::parallel_for("ossatura::sum_slot_blocks", range(exec, block.extent(0)),
                       detail::SumSlots<Exec, 9, false>{gather.begin, gather.slot, value, block});
}

} // namespace ossatura
