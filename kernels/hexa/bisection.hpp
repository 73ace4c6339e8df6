// SPDX-License-Identifier: Apache-2.0
// Bisection cuts a mesh of hexahedra into groups of elements that lie near one another: halves of
// halves, across the longer side of each, all parts of a level at a time.
//
// Three lists have the elements of each part in the order of their centres along the axes. A cut
// marks the elements of one list before and behind the middle; the other lists put the marked ones
// in front, in the order that they have [1].
//
// [1] J. L. Bentley. Multidimensional binary search trees used for associative searching. Commun.
//     ACM 18 (1975) 509-517, doi:10.1145/361002.361007; with the lists sorted once, R. A. Brown.
//     Building a balanced k-d tree in O(kn log n) time. J. Comput. Graph. Tech. 4 (2015) 50-68.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sorting/keys.hpp>
#include <ossatura/kernels/algebra/sorting/ordered_bits.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>

namespace ossatura {

/// Groups of elements, one after the other.
template<class Exec>
struct ElementGroups {
  Array<int, Exec> elem;  ///< [num_elem] by group; in a group by z, then y, x and number
  Array<int, Exec> begin; ///< [num_groups + 1] into these
  Array<int, Exec> kind;  ///< [num_groups]

  int num_groups() const { return int(kind.extent(0)); }
};

namespace detail {

/// Centres of elements along an axis.
template<class Exec>
struct CentreKeys {
  HexaArrays<Exec> arrays;
  int axis;
  ArrayPointer<std::uint32_t> key;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (int a = 0; a < 8; ++a)
      sum += arrays.point(3 * std::int64_t(arrays.node_of(int(e), a)) + axis);
    key(e) = sort_key(float(sum / 8));
  }
};

/// The parts of a level. A part that is not cut has all its elements in front.
template<class Exec>
struct BisectionLevel {
  int num_parts = 0;
  Array<int, Exec> begin;         ///< [num_parts + 1]
  Array<int, Exec> kind;          ///< [num_parts]
  Array<std::uint8_t, Exec> full; ///< [num_parts] it has too many nodes; empty: none has
  Array<int, Exec> axis, middle;  ///< [num_parts] of the cut
  /// [num_parts + 1] how many parts come of those before, and, in the low 32 bits, how many
  /// elements of them are in front.
  Array<std::int64_t, Exec> before;
};

/// Where and across which side a part is cut.
template<class Exec>
struct ChooseCut {
  BisectionLevel<Exec> level;
  int size;
  Kokkos::Array<ArrayPointer<const int>, 3> list;
  Kokkos::Array<ArrayPointer<const std::uint32_t>, 3> key;

  KOKKOS_FUNCTION void operator()(std::int64_t p, int& num_cuts) const {
    const int begin = level.begin(p), end = level.begin(p + 1), count = end - begin;
    const bool is_full = level.full.extent(0) > 0 && level.full(p) != 0 && count > 1;
    int axis = 0, middle = end;
    if (count > size || is_full) {
      float longest = -1;
      for (int c = 0; c < 3; ++c) {
        const float side = number_of_sort_key(key[c](list[c](end - 1))) -
                           number_of_sort_key(key[c](list[c](begin)));
        if (c == 0 || side > longest * 1.0001f) {
          longest = side;
          axis = c;
        }
      }
      // Whole groups in front, so that only the last one of all may be smaller.
      middle = begin +
               (count > size ? (count / size + (count % size != 0 ? 1 : 0)) / 2 * size : count / 2);
      ++num_cuts;
    }
    level.axis(p) = axis;
    level.middle(p) = middle;
    level.before(p) = std::int64_t(middle < end ? 2 : 1) << 32 | (middle - begin);
  }
};

template<class Exec>
struct MarkFront {
  BisectionLevel<Exec> level;
  ArrayPointer<const int> part; ///< of each place
  Kokkos::Array<ArrayPointer<const int>, 3> list;
  ArrayPointer<std::uint8_t> in_front; ///< by elements

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int p = part(i);
    in_front(list[level.axis(p)](i)) = i < level.middle(p) ? 1 : 0;
  }
};

/// A scan over the places of a list.
template<class Exec>
struct MoveToFront {
  BisectionLevel<Exec> level;
  ArrayPointer<const int> part, list;
  ArrayPointer<const std::uint8_t> in_front;
  ArrayPointer<int> moved;

  KOKKOS_FUNCTION void operator()(std::int64_t i, int& front, bool final) const {
    const int elem = list(i);
    const bool goes_first = in_front(elem) != 0;
    if (final) {
      const int p = part(i);
      const int before = front - int(level.before(p) & 0xffffffff);
      moved(goes_first ? level.begin(p) + before
                       : level.middle(p) + (int(i) - level.begin(p)) - before) = elem;
    }
    front += goes_first ? 1 : 0;
  }
};

template<class Exec>
struct FillNextLevel {
  BisectionLevel<Exec> level, next;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t to = level.before(p) >> 32;
    const int end = level.begin(p + 1), middle = level.middle(p);
    next.begin(to + 1) = middle;
    next.kind(to) = level.kind(p);
    if (middle < end) {
      next.begin(to + 2) = end;
      next.kind(to + 1) = level.kind(p);
    }
  }
};

template<class Exec>
struct RenumberParts {
  BisectionLevel<Exec> level;
  ArrayPointer<int> part;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int p = part(i);
    part(i) = int(level.before(p) >> 32) + (i < level.middle(p) ? 0 : 1);
  }
};

struct KindKeys {
  ArrayPointer<const int> kind;
  ArrayPointer<std::uint32_t> key;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { key(e) = std::uint32_t(kind(e)); }
};

/// The parts of elements that are in the order of their kinds.
struct BeginKinds {
  ArrayPointer<const int> list, kind;
  ArrayPointer<int> part, begin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int k = kind(list(i));
    part(i) = k;
    if (i == 0 || kind(list(i - 1)) != k)
      begin(k) = int(i);
  }
};

} // namespace detail

/// The elements of a mesh in groups of at most some size.
template<class Exec>
class Bisection {
public:
  /// Groups of one `kind` [num_elem] each, of which all of 0 .. num_kinds - 1 are there; empty
  /// where there is one alone.
  Bisection(const Exec& exec, const HexaArrays<Exec>& arrays, const Array<int, Exec>& kind,
            int num_kinds)
      : part_(make_zeros<int>(exec, arrays.num_elem, "ossatura::bisection::part"))
      , in_front_(make_uninitialized<std::uint8_t>(exec, arrays.num_elem,
                                                   "ossatura::bisection::in_front")) {
    const int n = arrays.num_elem;
    for (int axis = 0; axis < 3; ++axis) {
      key_[axis] = make_uninitialized<std::uint32_t>(exec, n, "ossatura::bisection::centre");
      Kokkos::parallel_for("ossatura::bisection::centres", range(exec, n),
                           detail::CentreKeys<Exec>{arrays, axis, key_[axis]});
    }
    // Where centres agree along the axis of a list, those along the two axes before it decide, then
    // the number: each sort keeps what the ones before it did.
    Array<int, Exec> order = make_numbers(exec, n, "ossatura::bisection::order");
    for (const int axis : {1, 2, 0, 1, 2}) {
      order = sort_further(exec, order, key_[axis], 32);
      list_[axis] = order; // the last of each axis stays
    }
    level_.num_parts = num_kinds;
    level_.begin = make_zeros<int>(exec, num_kinds + 1, "ossatura::bisection::begin");
    level_.kind = make_numbers(exec, num_kinds, "ossatura::bisection::kind");
    Kokkos::deep_copy(exec, Kokkos::subview(level_.begin, num_kinds), n);
    if (kind.extent(0) > 0)
      sort_by_kind(exec, kind, num_kinds);
  }

  /// Cuts parts until none has more than `size` elements, nor is marked in `full`
  /// [num_groups], which may be empty. Fences.
  void cut(const Exec& exec, int size, const Array<std::uint8_t, Exec>& full = {}) {
    level_.full = full;
    while (cut_once(exec, size))
      level_.full = {}; // as those of parts that are no more
  }

  ElementGroups<Exec> groups() const { return {list_[2], level_.begin, level_.kind}; }

private:
  void sort_by_kind(const Exec& exec, const Array<int, Exec>& kind, int num_kinds) {
    const std::int64_t n = kind.extent(0);
    const auto key = make_uninitialized<std::uint32_t>(exec, n, "ossatura::bisection::kind_key");
    Kokkos::parallel_for("ossatura::bisection::kinds", range(exec, n), detail::KindKeys{kind, key});
    for (Array<int, Exec>& list : list_)
      list = sort_further(exec, list, key, bits_for(num_kinds));
    Kokkos::parallel_for("ossatura::bisection::begin_kinds", range(exec, n),
                         detail::BeginKinds{list_[0], kind, part_, level_.begin});
  }

  Kokkos::Array<ArrayPointer<const int>, 3> lists() const {
    return {ArrayPointer<const int>(list_[0]), ArrayPointer<const int>(list_[1]),
            ArrayPointer<const int>(list_[2])};
  }

  /// Whether there was anything to cut.
  bool cut_once(const Exec& exec, int size) {
    const std::int64_t n = part_.extent(0), parts = level_.num_parts;
    level_.axis = make_uninitialized<int>(exec, parts, "ossatura::bisection::axis");
    level_.middle = make_uninitialized<int>(exec, parts, "ossatura::bisection::middle");
    level_.before = make_zeros<std::int64_t>(exec, parts + 1, "ossatura::bisection::before");
    int num_cuts = 0;
    Kokkos::parallel_reduce("ossatura::bisection::choose", range(exec, parts),
                            detail::ChooseCut<Exec>{level_,
                                                    size,
                                                    lists(),
                                                    {ArrayPointer<const std::uint32_t>(key_[0]),
                                                     ArrayPointer<const std::uint32_t>(key_[1]),
                                                     ArrayPointer<const std::uint32_t>(key_[2])}},
                            num_cuts);
    fence(exec, "ossatura::bisection::cut");
    if (num_cuts == 0)
      return false;
    lengths_to_begins(exec, level_.before, "parts");
    Kokkos::parallel_for("ossatura::bisection::mark", range(exec, n),
                         detail::MarkFront<Exec>{level_, part_, lists(), in_front_});
    for (Array<int, Exec>& list : list_) {
      const auto moved = make_uninitialized<int>(exec, n, "ossatura::bisection::order");
      Kokkos::parallel_scan("ossatura::bisection::move", range(exec, n),
                            detail::MoveToFront<Exec>{level_, part_, list, in_front_, moved});
      fence(exec, "ossatura::bisection::cut"); // the list goes
      list = moved;
    }
    detail::BisectionLevel<Exec> next;
    next.num_parts = level_.num_parts + num_cuts;
    next.begin = make_zeros<int>(exec, next.num_parts + 1, "ossatura::bisection::begin");
    next.kind = make_uninitialized<int>(exec, next.num_parts, "ossatura::bisection::kind");
    Kokkos::parallel_for("ossatura::bisection::next", range(exec, parts),
                         detail::FillNextLevel<Exec>{level_, next});
    Kokkos::parallel_for("ossatura::bisection::renumber", range(exec, n),
                         detail::RenumberParts<Exec>{level_, part_});
    fence(exec, "ossatura::bisection::cut"); // the level goes
    level_ = next;
    return true;
  }

  Array<std::uint32_t, Exec> key_[3]; ///< of centres by elements
  Array<int, Exec> list_[3];          ///< elements by parts, in the order of these keys
  Array<int, Exec> part_;             ///< of each place of the lists
  Array<std::uint8_t, Exec> in_front_;
  detail::BisectionLevel<Exec> level_;
};

} // namespace ossatura
