// SPDX-License-Identifier: Apache-2.0
// Element-by-element products sum y = sum_e T_e A_e T_e^T x [1, eq. 3], whatever the way in which
// an operator finds the nodes of an element.
//
// On devices each element is a thread and adds with atomics, as in [1]: the sum's order, hence its
// last bits, vary from run to run. On cores, where atomics are dear, elements are taken in blocks
// of 8 x 8 x 8, a run of the Morton curve, one thread each; blocks of the same parity share no node
// and run together. That is bitwise reproducible for any number of threads.
//
// [1] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace ossatura::detail {

/// Adds the product of one element with the nodes `node`, the lowest first, to y.
template<bool Atomic, class Exec, class Scalar>
KOKKOS_INLINE_FUNCTION void add_element_product(const int (&node)[8], const LameField<Exec>& lame,
                                                double edge, const Array<Scalar, Exec>& x,
                                                const Array<Scalar, Exec>& y) {
  std::int64_t first[8];
  for (int v = 0; v < 8; ++v)
    first[v] = 3 * std::int64_t(node[v]);
  Scalar u[24];
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      u[3 * v + c] = x(first[v] + c);
  apply_voxel_stiffness(Scalar(edge * lame.lambda(node[0])), Scalar(edge * lame.mu(node[0])), u);
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c) {
      if constexpr (Atomic)
        Kokkos::atomic_add(&y(first[v] + c), u[3 * v + c]);
      else
        y(first[v] + c) += u[3 * v + c];
    }
}

// `Elements` below is what an operator stores. Its elements are in `num_lists` lists, each in the
// order of the lowest nodes:
//
//     static constexpr int num_lists;
//     std::int64_t size(std::integral_constant<int, K>) const;           // of list K
//     Site site(std::integral_constant<int, K>, std::int64_t e) const;   // of the lowest node
//     void nodes(std::integral_constant<int, K>, std::int64_t e, int (&node)[8]) const;
//     LameField<Exec> lame;
//     double edge;

/// One element of list K per thread, with atomics.
template<class Exec, class Elements, class Scalar, int K>
struct ApplyElements {
  Elements elements;
  Array<Scalar, Exec> x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    int node[8];
    elements.nodes(std::integral_constant<int, K>(), e, node);
    add_element_product<true>(node, elements.lame, elements.edge, x, y);
  }
};

/// Where the elements of a block begin and end in each list.
template<int NumLists>
struct ElementBlock {
  int begin[NumLists], end[NumLists];
};

/// Blocks of elements, those that share no node next to each other: colour k is the blocks
/// colour_begin[k] .. colour_begin[k + 1].
template<class Exec, int NumLists>
struct ElementBlocks {
  Array<ElementBlock<NumLists>, Exec> block;
  std::array<std::int64_t, 9> colour_begin{};
};

template<class Exec, class Elements, int... K>
ElementBlocks<Exec, Elements::num_lists>
make_element_blocks(const Exec& exec, const Elements& elements, std::integer_sequence<int, K...>) {
  fence(exec, "ossatura::make_element_blocks");
  // A level this small costs less than handing it out to threads.
  constexpr std::int64_t small = 2048;
  const bool whole = (elements.size(std::integral_constant<int, K>()) + ...) <= small;
  using Block = ElementBlock<Elements::num_lists>;
  std::array<std::map<std::uint64_t, Block>, 8> colours;
  const auto add_list = [&](auto list) {
    for (std::int64_t e = 0; e < elements.size(list); ++e) {
      const Site s = elements.site(list, e);
      const std::uint64_t key = whole ? 0 : morton_key(s.x / 8, s.y / 8, s.z / 8);
      Block& block = colours[key & 7].try_emplace(key, Block{}).first->second;
      if (block.end[list] == 0)
        block.begin[list] = int(e);
      block.end[list] = int(e + 1);
    }
  };
  (add_list(std::integral_constant<int, K>()), ...);
  std::vector<Block> list;
  ElementBlocks<Exec, Elements::num_lists> blocks;
  for (int colour = 0; colour < 8; ++colour) {
    for (const auto& entry : colours[colour])
      list.push_back(entry.second);
    blocks.colour_begin[colour + 1] = std::int64_t(list.size());
  }
  blocks.block = upload(exec, "ossatura::element_blocks", list);
  return blocks;
}

/// The blocks of the elements on cores, none on devices. Fences.
template<class Exec, class Elements>
ElementBlocks<Exec, Elements::num_lists> make_element_blocks(const Exec& exec,
                                                             const Elements& elements) {
  if constexpr (BackendTraits<Exec>::is_device)
    return {};
  else
    return make_element_blocks(exec, elements,
                               std::make_integer_sequence<int, Elements::num_lists>());
}

/// One block per thread, without atomics.
template<class Exec, class Elements, class Scalar>
struct ApplyBlocks {
  ElementBlocks<Exec, Elements::num_lists> blocks;
  Elements elements;
  Array<Scalar, Exec> x, y;
  std::int64_t first_block;

  template<int K>
  KOKKOS_FUNCTION void add(std::integral_constant<int, K> list,
                           const ElementBlock<Elements::num_lists>& block) const {
    for (int e = block.begin[K]; e < block.end[K]; ++e) {
      int node[8];
      elements.nodes(list, e, node);
      add_element_product<false>(node, elements.lame, elements.edge, x, y);
    }
  }
  template<int... K>
  KOKKOS_FUNCTION void add_all(std::integer_sequence<int, K...>,
                               const ElementBlock<Elements::num_lists>& block) const {
    (add(std::integral_constant<int, K>(), block), ...);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    add_all(std::make_integer_sequence<int, Elements::num_lists>(), blocks.block(first_block + i));
  }
};

template<class Exec, class Elements, class Scalar, int... K>
void launch_elements(const Exec& exec, const char* label, const Elements& elements,
                     const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y,
                     std::integer_sequence<int, K...>) {
  const auto launch = [&](auto list) {
    constexpr int k = decltype(list)::value;
    if (elements.size(list) > 0)
      Kokkos::parallel_for(label, range(exec, elements.size(list)),
                           ApplyElements<Exec, Elements, Scalar, k>{elements, x, y});
  };
  (launch(std::integral_constant<int, K>()), ...);
}

/// Runs the blocks on cores, those of a colour side by side: make(i) is the functor for the blocks
/// from number i on. Does not fence.
template<class Exec, int NumLists, class Make>
void launch_blocks(const Exec& exec, const char* label, const ElementBlocks<Exec, NumLists>& blocks,
                   const Make& make) {
  for (int colour = 0; colour < 8; ++colour) {
    const std::int64_t begin = blocks.colour_begin[colour],
                       count = blocks.colour_begin[colour + 1] - begin;
    if (count > 0)
      Kokkos::parallel_for(label,
                           Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                               Kokkos::IndexType<std::int64_t>>(exec, 0, count),
                           make(begin));
  }
}

/// y = A x over all lists of elements. Does not fence.
template<class Exec, class Elements, class Scalar>
void apply_elements(const Exec& exec, const char* label, const Elements& elements,
                    const ElementBlocks<Exec, Elements::num_lists>& blocks,
                    const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) {
  Kokkos::deep_copy(exec, y, Scalar(0));
  if constexpr (BackendTraits<Exec>::is_device) {
    launch_elements(exec, label, elements, x, y,
                    std::make_integer_sequence<int, Elements::num_lists>());
  } else {
    launch_blocks(exec, label, blocks, [&](std::int64_t first_block) {
      return ApplyBlocks<Exec, Elements, Scalar>{blocks, elements, x, y, first_block};
    });
  }
}

} // namespace ossatura::detail
