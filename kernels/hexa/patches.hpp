// SPDX-License-Identifier: Apache-2.0
// Patches are groups of elements near one another that a team multiplies at a time: it
// reads the nodes of its patch once, every thread multiplies an element, and the forces on a node
// are summed on chip in a fixed order. On cores a thread takes a patch, and eight of its elements
// at a time (batches/patch_products.hpp). A node of several patches gets a partial sum from each,
// which a second launch adds up, again in a fixed order: results do not depend on threads.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/batches/patch_products.hpp>
#include <ossatura/kernels/hexa/checked_operator.hpp>
#include <ossatura/kernels/hexa/patch.hpp>

#include <algorithm>
#include <vector>

namespace ossatura {

/// Elements of a patch: on devices those of a team's threads.
template<class Exec>
inline constexpr int hexa_patch_size =
    BackendTraits<Exec>::is_device ? 128 : detail::patch_size_on_cores;

template<class Exec>
struct HexaPatches {
  int num_patches = 0, num_elem = 0, num_nodes = 0, num_shared = 0;
  std::int64_t num_partials = 0;
  Array<HexaPatch, Exec> patch;
  Array<int, Exec> elem;            ///< [num_elem] by patch: the element of the mesh
  Array<std::uint16_t, Exec> local; ///< [num_elem, 8] by patch: node of an element in its patch
  Array<int, Exec> node;            ///< by patch
  /// On devices; of node n of patch p: entries of `slot` from 8 elem_begin + slot_begin(node_begin
  /// + p + n) on, up to that of the next.
  Array<std::uint16_t, Exec> slot_begin;
  Array<std::uint16_t, Exec> slot; ///< [8 num_elem] (node of the element) hexa_patch_size + element
  Array<int, Exec> shared;         ///< [num_shared] nodes with partial sums
  Array<int, Exec> partial_of_shared; ///< [num_shared + 1] into the next
  Array<int, Exec> partial;           ///< [num_partials] partial sums of each, ascending

  std::int64_t bytes() const {
    return std::int64_t(patch.extent(0) * sizeof(HexaPatch)) +
           4 * std::int64_t(elem.extent(0) + node.extent(0) + shared.extent(0) +
                            partial_of_shared.extent(0) + partial.extent(0)) +
           2 * std::int64_t(local.extent(0) + slot_begin.extent(0) + slot.extent(0));
  }
};

namespace detail {

/// The eight numbers of an element, as they are loaded.
struct alignas(16) ElementNumbers {
  std::uint16_t at[8];
};

/// Rounds of a team over the nodes of a patch that are enough for any.
inline constexpr int max_node_rounds = 4;

/// The table of a kind, or nothing.
template<class Scalar, int size>
struct alignas(16) KindTable {
  Scalar entry[size + (size == 0)];
};

/// On devices: a team is a patch, a thread an element, then a few nodes, `Rounds` at the most. With
/// `OneKind` all patches of the launch are of one kind, whose table is an argument of the launch:
/// constants are operands of multiply-adds, and take neither shared memory, nor registers, nor
/// loads.
template<class Exec, class Element, int Rounds, bool OneKind>
struct MultiplyPatches {
  using Scalar = typename Element::Scalar;
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int size = hexa_patch_size<Exec>;
  static constexpr int max_nodes = Rounds * size;
  static constexpr int num_values = Element::uses_points ? 6 : 3; ///< of a node
  static constexpr int staged_table = OneKind ? 0 : Element::table_size;

  struct Scratch {
    alignas(16) Scalar table[staged_table + (staged_table == 0)];
    /// Displacements and positions, then in their place the forces made from them.
    alignas(
        16) Scalar staged[num_values * max_nodes > 24 * size ? num_values* max_nodes : 24 * size];
    alignas(16) std::uint16_t slot[8 * size];
  };
  static constexpr int scratch_bytes = int(sizeof(Scratch)) + 16;

  static constexpr int teams() {
    if constexpr (OneKind)
      return Element::teams_of_one_kind;
    else
      return Element::teams;
  }

  Element element;
  KindTable<Scalar, OneKind ? Element::table_size : 0> table;
  int first_patch;
  ArrayPointer<HexaPatch> patches;
  ArrayPointer<std::uint16_t> local, slot_begin, slot;
  ArrayPointer<int> node;
  ArrayPointer<double> point;
  ArrayPointer<Scalar> modulus; ///< [num_elem] by patch
  ArrayPointer<Scalar> x, y, partial;

  /// Takes f_i, i = 3 a + c for component c of node a.
  struct StoreForces {
    Scalar* first;

    KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, Scalar f) const {
      first[(8 * (i % 3) + i / 3) * int(size)] = f;
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION ElementNumbers load_numbers(const ArrayPointer<std::uint16_t>& list,
                                                          int elem) const {
    return *reinterpret_cast<const ElementNumbers*>(&list(8 * std::int64_t(elem)));
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar* place_of_sum(const HexaPatch& patch, int n, int id) const {
    return n < patch.num_own
               ? &y(3 * std::int64_t(id))
               : &partial(3 * (std::int64_t(patch.partial_begin) + n - patch.num_own));
  }
  /// A node's displacement and, from `origin`, its position.
  KOKKOS_FORCEINLINE_FUNCTION void load_node(int id, int origin, Scalar (&v)[6]) const {
    for (int c = 0; c < 3; ++c) {
      v[c] = x(3 * std::int64_t(id) + c);
      if constexpr (Element::uses_points)
        v[3 + c] = Scalar(point(3 * std::int64_t(id) + c) - point(3 * std::int64_t(origin) + c));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store_node(const Scalar (&v)[6], int n, Scalar* staged) {
    for (int c = 0; c < int(num_values); ++c)
      staged[c * int(max_nodes) + n] = v[c];
  }

  /// Loads are issued in three bursts, what a burst needs being there from the one before: latency
  /// is what this kernel waits for.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *static_cast<Scratch*>(
        team.team_scratch(int(scratch_level<Exec>)).get_shmem_aligned(int(sizeof(Scratch)), 16));
    const int number = first_patch + team.league_rank(), t = team.team_rank();
    const HexaPatch patch = patches(number);
    const bool active = t < patch.num_elem;
    constexpr int table_rounds = (staged_table + size - 1) / size;
    Scalar staged_entry[table_rounds + 1];
    int id[Rounds], begin[Rounds], end[Rounds];
    const int origin = node(patch.node_begin);
    for (int q = 0; q < Rounds; ++q) {
      const int n = t + q * int(size), at = patch.node_begin + n;
      id[q] = n < patch.num_nodes ? node(at) : -1;
      begin[q] = n < patch.num_nodes ? slot_begin(at + number) : 0;
      end[q] = n < patch.num_nodes ? slot_begin(at + number + 1) : 0;
    }
    const int elem = patch.elem_begin + (active ? t : 0);
    const ElementNumbers nodes = load_numbers(local, elem), slots = load_numbers(slot, elem);
    const Scalar e = modulus(elem);
    for (int q = 0; q < table_rounds; ++q)
      staged_entry[q] =
          t + q * int(size) < int(staged_table)
              ? element.tables[std::int64_t(patch.kind) * int(staged_table) + t + q * int(size)]
              : Scalar(0);

    Scalar value[Rounds][6];
    for (int q = 0; q < Rounds; ++q)
      if (id[q] >= 0)
        load_node(id[q], origin, value[q]);
    for (int q = 0; q < table_rounds; ++q)
      if (t + q * int(size) < int(staged_table))
        scratch.table[t + q * int(size)] = staged_entry[q];
    *reinterpret_cast<ElementNumbers*>(scratch.slot + 8 * t) = slots;
    for (int q = 0; q < Rounds; ++q)
      if (id[q] >= 0)
        store_node(value[q], t + q * int(size), scratch.staged);
    team.team_barrier();

    Scalar u[24], points[24];
    for (int a = 0; a < 8; ++a)
      for (int c = 0; c < 3; ++c) {
        u[3 * a + c] = scratch.staged[c * int(max_nodes) + nodes.at[a]];
        if constexpr (Element::uses_points)
          points[3 * a + c] = scratch.staged[(3 + c) * int(max_nodes) + nodes.at[a]];
      }
    team.team_barrier();
    if (active) {
      const Scalar* const entries = OneKind ? table.entry : scratch.table;
      element.multiply(elem, entries, e, points, u, StoreForces{scratch.staged + t});
    }
    team.team_barrier();
    for (int q = 0; q < Rounds; ++q)
      if (id[q] >= 0)
        sum(scratch.slot, begin[q], end[q], scratch.staged,
            place_of_sum(patch, t + q * int(size), id[q]));
  }

  KOKKOS_FORCEINLINE_FUNCTION static void sum(const std::uint16_t* slots, int begin, int end,
                                              const Scalar* forces, Scalar* to) {
    Scalar f[3] = {0, 0, 0};
    for (int s = begin; s < end; ++s) {
      const int from = slots[s];
      for (int c = 0; c < 3; ++c)
        f[c] += forces[8 * c * int(size) + from];
    }
    for (int c = 0; c < 3; ++c)
      to[c] = f[c];
  }
};

/// On cores: a thread is a patch.
template<class Element>
struct MultiplyPatchesInBatches {
  HexaPatchInput<typename Element::Scalar> in;
  Element element;
  MultiplyPatch<Element>* multiply;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const { multiply(in, element, int(number)); }
};

/// Writes where the patches of each kind begin, which are in the order of their kinds.
template<class Exec>
struct BeginPatchesOfKinds {
  ArrayPointer<HexaPatch> patch;
  Array<int, Exec> begin;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    if (p == 0 || patch(p - 1).kind != patch(p).kind)
      begin(patch(p).kind) = int(p);
  }
};

template<class Exec>
struct MostNodes {
  ArrayPointer<HexaPatch> patch;

  KOKKOS_FUNCTION void operator()(std::int64_t p, int& most) const {
    most = Kokkos::max(most, patch(p).num_nodes);
  }
};

template<class Exec, class Scalar>
struct SumPartials {
  ArrayPointer<int> shared, partial_of_shared, list;
  ArrayPointer<Scalar> partial, y;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t s = item / 3;
    const int c = int(item % 3);
    Scalar sum = 0;
    for (int k = partial_of_shared(s); k < partial_of_shared(s + 1); ++k)
      sum += partial(3 * std::int64_t(list(k)) + c);
    y(3 * std::int64_t(shared(s)) + c) = sum;
  }
};

template<class Exec, class Scalar>
struct GatherModulus {
  ArrayPointer<int> elem;
  ArrayPointer<double> modulus;
  ArrayPointer<Scalar> by_patch;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const { by_patch(k) = Scalar(modulus(elem(k))); }
};

} // namespace detail

/// The part that operators by patches have in common (patch_elements.hpp has the elements).
template<class Exec, class Element>
class HexaPatchOperator final : public HexaCheckedOperator<Exec, typename Element::Scalar> {
public:
  using Scalar = typename Element::Scalar;

  /// `element` points into `kept`.
  HexaPatchOperator(const Exec& exec, const HexaArrays<Exec>& arrays,
                    const HexaPatches<Exec>& patches, const Element& element,
                    const Array<Scalar, Exec>& kept, const OperatorCost& of_element)
      : HexaCheckedOperator<Exec, Scalar>(arrays)
      , patches_(patches)
      , element_(element)
      , kept_(kept)
      , of_element_(of_element)
      , modulus_(make_zeros<Scalar>(exec, patches.num_elem, "ossatura::hexa_patches::modulus"))
      , partial_(make_uninitialized<Scalar>(exec, 3 * patches.num_partials,
                                            "ossatura::hexa_patches::partial_sums")) {
    if (!BackendTraits<Exec>::is_device)
      return;
    Kokkos::parallel_reduce("ossatura::hexa_patches::most_nodes", range(exec, patches.num_patches),
                            detail::MostNodes<Exec>{patches.patch}, Kokkos::Max<int>(most_nodes_));
    if constexpr (Element::table_size > 0)
      if (kept.extent(0) / Element::table_size <= std::size_t(max_launches))
        list_kinds(exec);
  }

  bool is_deterministic() const override { return true; }

  OperatorCost cost() const override {
    const std::int64_t scalar = sizeof(Scalar), n = patches_.num_elem,
                       num_nodes = this->arrays_.num_nodes;
    OperatorCost cost;
    cost.bytes_kept =
        patches_.bytes() + scalar * (n + 3 * patches_.num_partials) + of_element_.bytes_kept;
    // x and positions of nodes once, y once, partial sums written and read.
    cost.bytes_moved = double(patches_.bytes() - 4 * n) + of_element_.bytes_moved +
                       double(scalar) * double(n + 6 * num_nodes + 6 * patches_.num_partials) +
                       (Element::uses_points ? 24.0 * double(num_nodes) : 0.0);
    cost.flops = of_element_.flops * double(n);
    return cost;
  }

private:
  void take_modulus(const Exec& exec, const Array<double, Exec>& modulus) override {
    Kokkos::parallel_for("ossatura::gather_modulus", range(exec, patches_.num_elem),
                         detail::GatherModulus<Exec, Scalar>{patches_.elem, modulus, modulus_});
  }

  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    if constexpr (BackendTraits<Exec>::is_device) {
      if (most_nodes_ <= 2 * hexa_patch_size<Exec>)
        multiply_kinds<2>(exec, x, y);
      else
        multiply_kinds<detail::max_node_rounds>(exec, x, y);
    } else {
      const detail::HexaPatchInput<Scalar> in{patches_.patch.data(),
                                              patches_.local.data(),
                                              patches_.node.data(),
                                              this->arrays_.point.data(),
                                              modulus_.data(),
                                              x.data(),
                                              y.data(),
                                              partial_.data()};
      Kokkos::parallel_for(
          "ossatura::multiply_patches", range(exec, patches_.num_patches),
          detail::MultiplyPatchesInBatches<Element>{
              in, element_, detail::product_of<Element>(detail::patch_products())});
    }
    Kokkos::parallel_for(
        "ossatura::sum_partials", range(exec, 3 * std::int64_t(patches_.num_shared)),
        detail::SumPartials<Exec, Scalar>{patches_.shared, patches_.partial_of_shared,
                                          patches_.partial, partial_, y});
  }

  /// A launch for each kind where there are few, else one for all. Does not fence.
  template<int Rounds>
  void multiply_kinds(const Exec& exec, const Array<Scalar, Exec>& x,
                      const Array<Scalar, Exec>& y) const {
    if constexpr (Element::table_size > 0) {
      for (std::size_t k = 0; k < kind_table_.size(); ++k)
        launch<Rounds, true>(exec, kind_table_[k], kind_begin_[k], kind_begin_[k + 1], x, y);
      if (!kind_table_.empty())
        return;
    }
    launch<Rounds, false>(exec, {}, 0, patches_.num_patches, x, y);
  }

  template<int Rounds, bool OneKind>
  void launch(const Exec& exec,
              const detail::KindTable<Scalar, OneKind ? int(Element::table_size) : 0>& table,
              int begin, int end, const Array<Scalar, Exec>& x,
              const Array<Scalar, Exec>& y) const {
    using Multiply = detail::MultiplyPatches<Exec, Element, Rounds, OneKind>;
    using Policy =
        Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<hexa_patch_size<Exec>, Multiply::teams()>>;
    Policy policy(exec, end - begin, hexa_patch_size<Exec>);
    policy.set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(int(Multiply::scratch_bytes)));
    // The hint has Kokkos pass up to 4 KiB as arguments of the launch.
    Kokkos::parallel_for(
        "ossatura::multiply_patches",
        Kokkos::Experimental::require(policy,
                                      Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        Multiply{element_, table, begin, patches_.patch, patches_.local, patches_.slot_begin,
                 patches_.slot, patches_.node, this->arrays_.point, modulus_, x, y, partial_});
  }

  /// Fences.
  void list_kinds(const Exec& exec) {
    constexpr int size = Element::table_size;
    kind_table_.resize(kept_.extent(0) / size);
    const std::vector<Scalar> tables = download(exec, kept_);
    for (std::size_t k = 0; k < kind_table_.size(); ++k)
      std::copy_n(tables.begin() + std::ptrdiff_t(k * size), size, kind_table_[k].entry);
    const auto begin =
        make_zeros<int>(exec, std::int64_t(kind_table_.size()), "ossatura::hexa_patches::begin");
    Kokkos::parallel_for("ossatura::begin_patches_of_kinds", range(exec, patches_.num_patches),
                         detail::BeginPatchesOfKinds<Exec>{patches_.patch, begin});
    kind_begin_ = download(exec, begin);
    kind_begin_.push_back(patches_.num_patches);
  }

  static constexpr int max_launches = 8; ///< of a product, each for the patches of a kind

  HexaPatches<Exec> patches_;
  Element element_;
  Array<Scalar, Exec> kept_;
  OperatorCost of_element_;
  Array<Scalar, Exec> modulus_, partial_;
  int most_nodes_ = 0; ///< of a patch; on devices
  /// On devices, where there are at most max_launches kinds; else empty.
  std::vector<detail::KindTable<Scalar, Element::table_size>> kind_table_;
  std::vector<int> kind_begin_; ///< [num_kinds + 1] first patch of each
};

} // namespace ossatura
