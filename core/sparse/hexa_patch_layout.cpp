// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/hexa_patch_layout.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>
#include <ossatura/core/sparse/index_set.hpp>

#include <algorithm>
#include <array>
#include <future>
#include <mutex>
#include <numeric>
#include <system_error>
#include <utility>

namespace ossatura {
namespace {

using Centre = std::array<float, 3>;

/// Cuts a list of elements into patches.
class Bisection {
public:
  Bisection(const std::vector<std::int32_t>& node, const std::vector<Centre>& centre,
            std::vector<int>& elem, int patch_size)
      : node_(node)
      , centre_(centre)
      , elem_(elem.data())
      , size_(patch_size) {
    if (elem.size() >= worth_all_threads)
      moved_.resize(elem.size());
  }

  /// Reorders a part of the elements and appends the ends of patches, by up to `threads` threads.
  void cut(int* begin, int* end, int threads, std::vector<int*>& ends) {
    IndexSet nodes;
    cut(begin, end, threads, nodes, ends);
  }

private:
  static constexpr std::size_t worth_all_threads = 1 << 17, elements_of_block = 1 << 14;

  /// Whether all threads work on a list: once each has lists of its own, they would be in each
  /// other's way.
  static bool is_shared(std::size_t count, int threads) {
    return threads > 1 && count >= worth_all_threads;
  }

  void cut(int* begin, int* end, int threads, IndexSet& nodes, std::vector<int*>& ends) {
    const std::ptrdiff_t count = end - begin;
    if (count == 0)
      return;
    if (count <= size_ && fits(begin, end, nodes)) {
      std::sort(begin, end, [this](int a, int b) { return before(a, b, 2); });
      ends.push_back(end);
      return;
    }
    // Whole patches on the left, so that only the last one of all may be smaller.
    std::ptrdiff_t left = count / 2;
    if (count > size_)
      left = (count / size_ + (count % size_ != 0)) / 2 * size_;
    select(begin, begin + left, end, longest_side(begin, end, threads), threads);
    constexpr std::ptrdiff_t worth_a_thread = 1 << 14;
    if (threads < 2 || count < worth_a_thread) {
      cut(begin, begin + left, 1, nodes, ends);
      cut(begin + left, end, 1, nodes, ends);
      return;
    }
    std::vector<int*> right;
    std::future<void> other;
    const auto cut_right = [&] { cut(begin + left, end, threads / 2, right); };
    try {
      other = std::async(std::launch::async, [&cut_right] {
        unbind_thread();
        cut_right();
      });
    } catch (const std::system_error&) { // there is no thread to be had
    }
    cut(begin, begin + left, threads - threads / 2, nodes, ends);
    if (other.valid())
      other.get();
    else
      cut_right();
    ends.insert(ends.end(), right.begin(), right.end());
  }

  /// By the coordinate `axis`, then the others, then the number.
  bool before(int a, int b, int axis) const {
    const Centre &p = centre_[std::size_t(a)], &q = centre_[std::size_t(b)];
    for (int k = 0; k < 3; ++k) {
      const std::size_t c = std::size_t((axis + 3 - k) % 3);
      if (p[c] != q[c])
        return p[c] < q[c];
    }
    return a < b;
  }
  int longest_side(const int* begin, const int* end, int threads) const {
    Centre low = centre_[std::size_t(*begin)], high = low;
    std::mutex mutex;
    const auto take = [&](std::size_t first, std::size_t last) {
      Centre least = centre_[std::size_t(begin[first])], most = least;
      for (const int* e = begin + first; e != begin + last; ++e)
        for (std::size_t c = 0; c < 3; ++c) {
          least[c] = std::min(least[c], centre_[std::size_t(*e)][c]);
          most[c] = std::max(most[c], centre_[std::size_t(*e)][c]);
        }
      const std::lock_guard<std::mutex> lock(mutex);
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], least[c]);
        high[c] = std::max(high[c], most[c]);
      }
    };
    const std::size_t count = std::size_t(end - begin);
    if (is_shared(count, threads))
      for_parts(count, elements_of_block, take);
    else
      take(0, count);
    int axis = 0;
    for (int c = 1; c < 3; ++c)
      if (high[std::size_t(c)] - low[std::size_t(c)] >
          (high[std::size_t(axis)] - low[std::size_t(axis)]) * 1.0001f)
        axis = c;
    return axis;
  }

  /// std::nth_element by the coordinate `axis`; of a shared list by all threads, which first move
  /// elements far from the nth to its sides.
  void select(int* begin, int* nth, int* end, int axis, int threads) {
    const auto less = [this, axis](int a, int b) { return before(a, b, axis); };
    const std::size_t count = std::size_t(end - begin);
    if (is_shared(count, threads)) {
      // The nth of a sample is about there: 64 is a standard deviation at most.
      constexpr std::size_t sample_size = 1 << 14, margin = 256;
      std::vector<int> sample(sample_size);
      for (std::size_t k = 0; k < sample_size; ++k)
        sample[k] = begin[count / sample_size * k];
      std::sort(sample.begin(), sample.end(), less);
      const std::size_t place = std::size_t(nth - begin) * sample_size / count;
      const int low = sample[place - std::min(place, margin)],
                high = sample[std::min(place + margin, sample_size - 1)];
      const auto [from_low, from_high] = split(begin, end, [&](int e) {
        return less(e, low) ? 0 : less(e, high) ? 1 : 2;
      });
      end = nth < from_low ? from_low : nth < from_high ? from_high : end;
      begin = nth < from_low ? begin : nth < from_high ? from_low : from_high;
    }
    std::nth_element(begin, nth, end, less);
  }

  /// Sorts elements by part_of(e), 0 to 2, by all threads. Returns where the parts 1 and 2 begin.
  template<class PartOf>
  std::pair<int*, int*> split(int* begin, int* end, const PartOf& part_of) {
    const std::size_t count = std::size_t(end - begin),
                      num_blocks = (count + elements_of_block - 1) / elements_of_block;
    const auto for_blocks = [&](const auto& visit) {
      for_parts(num_blocks, 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t block = first; block < last; ++block)
          for (std::size_t i = elements_of_block * block;
               i < std::min(count, elements_of_block * (block + 1)); ++i)
            visit(block, i);
      });
    };
    std::vector<std::array<std::size_t, 3>> place(num_blocks, {0, 0, 0}); // counts at first
    for_blocks(
        [&](std::size_t block, std::size_t i) { ++place[block][std::size_t(part_of(begin[i]))]; });
    std::size_t sum = 0, first_of_part[3];
    for (std::size_t part = 0; part < 3; ++part) {
      first_of_part[part] = sum;
      for (std::array<std::size_t, 3>& of_block : place)
        sum += std::exchange(of_block[part], sum);
    }
    int* const moved = moved_.data() + (begin - elem_);
    for_blocks([&](std::size_t block, std::size_t i) {
      moved[place[block][std::size_t(part_of(begin[i]))]++] = begin[i];
    });
    for_blocks([&](std::size_t, std::size_t i) { begin[i] = moved[i]; });
    return {begin + first_of_part[1], begin + first_of_part[2]};
  }

  /// Whether the nodes of these elements are few enough for a patch.
  bool fits(const int* begin, const int* end, IndexSet& nodes) const {
    nodes.clear();
    for (const int* e = begin; e != end; ++e)
      for (std::size_t a = 0; a < 8; ++a)
        nodes.add(node_[8 * std::size_t(*e) + a]);
    return nodes.list().size() <= 4 * std::size_t(size_);
  }

  const std::vector<std::int32_t>& node_;
  const std::vector<Centre>& centre_;
  int* elem_;              ///< all elements
  std::vector<int> moved_; ///< scratch, as many
  int size_;
};

std::vector<Centre> element_centres(const ElementMesh& mesh) {
  std::vector<Centre> centre(mesh.num_elem());
  for_parts(centre.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e)
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (std::size_t a = 0; a < 8; ++a)
          sum += mesh.point[3 * std::size_t(mesh.node[8 * e + a]) + c];
        centre[e][c] = float(sum / 8);
      }
  });
  return centre;
}

/// Makes the arrays of one patch after the other, whose elements are layout.elem[elem_begin ..].
class PatchWriter {
public:
  PatchWriter(const std::vector<std::int32_t>& node, const std::vector<int>& patches_of_node,
              HexaPatchLayout& layout)
      : node_(node)
      , patches_of_node_(patches_of_node)
      , layout_(layout) {}

  /// What patches append to the lists of the layout.
  std::vector<int> node;
  std::vector<std::uint16_t> slot_begin;

  void write(HexaPatch& patch) {
    list_nodes(patch);
    const std::size_t num_nodes = list_.size(), n = std::size_t(patch.num_elem);
    // Own nodes first, which nodes_ does not have so.
    place_.resize(num_nodes);
    for (std::size_t i = 0; i < num_nodes; ++i)
      place_[std::size_t(nodes_.add(list_[i]))] = int(i);
    count_.assign(num_nodes + 1, 0);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t a = 0; a < 8; ++a) {
        const int local = place_[std::size_t(nodes_.add(node_of(patch, k, a)))];
        layout_.local[8 * (std::size_t(patch.elem_begin) + k) + a] = std::uint16_t(local);
        ++count_[std::size_t(local) + 1];
      }
    std::partial_sum(count_.begin(), count_.end(), count_.begin());
    for (int begin : count_)
      slot_begin.push_back(std::uint16_t(begin));
    for (std::size_t k = 0; k < n; ++k) // elements ascend, so slots of a node do
      for (std::size_t a = 0; a < 8; ++a) {
        const std::size_t at = 8 * (std::size_t(patch.elem_begin) + k) + a;
        layout_.slot[8 * std::size_t(patch.elem_begin) + std::size_t(count_[layout_.local[at]]++)] =
            std::uint16_t(a * std::size_t(layout_.patch_size) + k);
      }
  }

private:
  std::int32_t node_of(const HexaPatch& patch, std::size_t k, std::size_t a) const {
    return node_[8 * std::size_t(layout_.elem[std::size_t(patch.elem_begin) + k]) + a];
  }
  /// The patch's own nodes, then the others, both in the order in which elements have them.
  void list_nodes(HexaPatch& patch) {
    nodes_.clear();
    for (std::size_t k = 0; k < std::size_t(patch.num_elem); ++k)
      for (std::size_t a = 0; a < 8; ++a)
        nodes_.add(node_of(patch, k, a));
    list_.clear();
    for (const bool own : {true, false}) {
      for (const int i : nodes_.list())
        if ((patches_of_node_[std::size_t(i)] == 1) == own)
          list_.push_back(i);
      if (own)
        patch.num_own = int(list_.size());
    }
    patch.node_begin = int(node.size());
    patch.num_nodes = int(list_.size());
    node.insert(node.end(), list_.begin(), list_.end());
  }

  const std::vector<std::int32_t>& node_;
  const std::vector<int>& patches_of_node_;
  HexaPatchLayout& layout_;
  IndexSet nodes_; ///< of the patch at hand, in the order of its elements
  std::vector<int> list_, place_, count_;
};

constexpr std::size_t patches_of_block = 64; ///< that a thread takes at a time

void write_patches(const std::vector<std::int32_t>& node, const std::vector<int>& patches_of_node,
                   HexaPatchLayout& layout) {
  const std::size_t num_patches = layout.patch.size(),
                    num_blocks = (num_patches + patches_of_block - 1) / patches_of_block;
  std::vector<std::vector<int>> nodes(num_blocks);
  std::vector<std::vector<std::uint16_t>> slots(num_blocks);
  const auto patches = [&](std::size_t block) {
    return std::make_pair(patches_of_block * block,
                          std::min(num_patches, patches_of_block * (block + 1)));
  };
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    PatchWriter writer(node, patches_of_node, layout);
    for (std::size_t block = first; block < end; ++block) {
      const auto [begin, last] = patches(block);
      for (std::size_t p = begin; p < last; ++p)
        writer.write(layout.patch[p]);
      nodes[block] = std::exchange(writer.node, {});
      slots[block] = std::exchange(writer.slot_begin, {});
    }
  });
  std::size_t num_nodes = 0;
  for (const std::vector<int>& of_block : nodes)
    num_nodes += of_block.size();
  layout.node.reserve(num_nodes);
  layout.slot_begin.reserve(num_nodes + num_patches);
  for (std::size_t block = 0; block < num_blocks; ++block) {
    const auto [begin, last] = patches(block);
    for (std::size_t p = begin; p < last; ++p) {
      layout.patch[p].node_begin += int(layout.node.size());
      layout.max_nodes = std::max(layout.max_nodes, layout.patch[p].num_nodes);
    }
    layout.node.insert(layout.node.end(), nodes[block].begin(), nodes[block].end());
    layout.slot_begin.insert(layout.slot_begin.end(), slots[block].begin(), slots[block].end());
    nodes[block] = {};
    slots[block] = {};
  }
}

/// The elements by kinds, in their order; `kind` is not negative.
std::vector<int> sort_by_kind(const std::vector<int>& kind) {
  std::vector<int> begin(1 + std::size_t(*std::max_element(kind.begin(), kind.end())), 0);
  for (const int k : kind)
    if (std::size_t(k) + 1 < begin.size())
      ++begin[std::size_t(k) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int> elem(kind.size());
  for (std::size_t e = 0; e < kind.size(); ++e)
    elem[std::size_t(begin[std::size_t(kind[e])]++)] = int(e);
  return elem;
}

/// Elements in patches, kind by kind.
void cut_into_patches(const ElementMesh& mesh, const std::vector<std::int32_t>& node,
                      const std::vector<int>& kind, HexaPatchLayout& layout) {
  const std::vector<Centre> centre = element_centres(mesh);
  std::vector<int>& elem = layout.elem;
  if (kind.empty()) {
    elem.resize(mesh.num_elem());
    std::iota(elem.begin(), elem.end(), 0);
  } else {
    elem = sort_by_kind(kind);
  }
  Bisection bisection(node, centre, elem, layout.patch_size);
  std::vector<int*> ends;
  int* const begin = elem.data();
  int* const end = begin + elem.size();
  for (int* first = begin; first != end;) {
    int* last = first;
    while (last != end && (kind.empty() || kind[std::size_t(*last)] == kind[std::size_t(*first)]))
      ++last;
    bisection.cut(first, last, io_threads(), ends);
    first = last;
  }
  for (int* patch_end : ends) {
    const int elem_begin =
        layout.patch.empty() ? 0 : layout.patch.back().elem_begin + layout.patch.back().num_elem;
    layout.patch.push_back({elem_begin, int(patch_end - begin) - elem_begin, 0, 0, 0, 0,
                            kind.empty() ? 0 : kind[std::size_t(elem[std::size_t(elem_begin)])]});
  }
}

std::vector<int> count_patches_of_nodes(const std::vector<std::int32_t>& node,
                                        std::size_t num_points, const HexaPatchLayout& layout) {
  std::vector<int> count(num_points);
  for_parts(layout.patch.size(), patches_of_block, [&](std::size_t first, std::size_t end) {
    IndexSet nodes;
    for (std::size_t p = first; p < end; ++p) {
      nodes.clear();
      for (int k = 0; k < layout.patch[p].num_elem; ++k)
        for (std::size_t a = 0; a < 8; ++a)
          nodes.add(
              node[8 * std::size_t(layout.elem[std::size_t(layout.patch[p].elem_begin + k)]) + a]);
      for (const int i : nodes.list())
        __atomic_fetch_add(&count[std::size_t(i)], 1, __ATOMIC_RELAXED);
    }
  });
  return count;
}

void number_partials(const std::vector<int>& patches_of_node, HexaPatchLayout& layout) {
  // Of no patch, 0, is a node without elements: its sum is zero.
  const auto is_shared = [&](std::size_t node) { return patches_of_node[node] != 1; };
  constexpr std::size_t nodes_of_block = 1 << 14;
  const std::size_t num_nodes = patches_of_node.size(),
                    num_blocks = (num_nodes + nodes_of_block - 1) / nodes_of_block;
  const auto end_of = [&](std::size_t block) {
    return std::min(num_nodes, nodes_of_block * (block + 1));
  };
  std::vector<int> shared_of(num_blocks + 1, 0), partials_of(num_blocks + 1, 0);
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t block = first; block < last; ++block)
      for (std::size_t node = nodes_of_block * block; node < end_of(block); ++node)
        if (is_shared(node)) {
          ++shared_of[block + 1];
          partials_of[block + 1] += patches_of_node[node];
        }
  });
  std::partial_sum(shared_of.begin(), shared_of.end(), shared_of.begin());
  std::partial_sum(partials_of.begin(), partials_of.end(), partials_of.begin());
  std::vector<int> place(num_nodes); // of a node's next partial
  layout.shared.resize(std::size_t(shared_of.back()));
  layout.partial_of_shared.resize(layout.shared.size() + 1);
  layout.partial_of_shared.back() = partials_of.back();
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t block = first; block < last; ++block) {
      std::size_t s = std::size_t(shared_of[block]);
      int next = partials_of[block];
      for (std::size_t node = nodes_of_block * block; node < end_of(block); ++node)
        if (is_shared(node)) {
          layout.shared[s] = int(node);
          layout.partial_of_shared[s++] = place[node] = next;
          next += patches_of_node[node];
        }
    }
  });
  int num_partials = 0;
  for (HexaPatch& patch : layout.patch) {
    patch.partial_begin = num_partials;
    num_partials += patch.num_nodes - patch.num_own;
  }
  layout.partial.resize(std::size_t(num_partials));
  for_parts(layout.patch.size(), patches_of_block, [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) {
      const HexaPatch& patch = layout.patch[p];
      for (int n = patch.num_own; n < patch.num_nodes; ++n) {
        int& next = place[std::size_t(layout.node[std::size_t(patch.node_begin + n)])];
        layout.partial[std::size_t(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED))] =
            patch.partial_begin + n - patch.num_own;
      }
    }
  });
  // In the order of patches, which threads do not keep.
  for_parts(layout.shared.size(), nodes_of_block, [&](std::size_t first, std::size_t last) {
    for (std::size_t s = first; s < last; ++s)
      std::sort(layout.partial.begin() + layout.partial_of_shared[s],
                layout.partial.begin() + layout.partial_of_shared[s + 1]);
  });
}

} // namespace

HexaPatchLayout make_hexa_patch_layout(const ElementMesh& mesh,
                                       const std::vector<std::int32_t>& node,
                                       const std::vector<int>& kind, int patch_size) {
  OSSATURA_REQUIRE(patch_size >= 2 && patch_size <= 4096, "patches of " << patch_size);
  OSSATURA_REQUIRE(kind.empty() || kind.size() == mesh.num_elem(), kind.size() << " kinds");
  HexaPatchLayout layout;
  layout.patch_size = patch_size;
  cut_into_patches(mesh, node, kind, layout);
  const std::vector<int> patches_of_node = count_patches_of_nodes(node, mesh.num_points(), layout);
  layout.local.resize(8 * mesh.num_elem());
  layout.slot.resize(8 * mesh.num_elem());
  write_patches(node, patches_of_node, layout);
  number_partials(patches_of_node, layout);
  return layout;
}

} // namespace ossatura
