// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/hexa_patch_layout.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace ossatura {
namespace {

using Centre = std::array<float, 3>;

/// Cuts a list of elements into patches.
class Bisection {
public:
  Bisection(const std::vector<std::int32_t>& node, const std::vector<Centre>& centre,
            int num_points, int patch_size)
      : node_(node)
      , centre_(centre)
      , size_(patch_size)
      , last_seen_(std::size_t(num_points), -1) {}

  /// Reorders the elements [begin, end) and appends the ends of patches.
  void cut(int* begin, int* end) {
    const std::ptrdiff_t count = end - begin;
    if (count == 0)
      return;
    if (count <= size_ && fits(begin, end)) {
      std::sort(begin, end, [this](int a, int b) { return before(a, b, 2); });
      ends_.push_back(end);
      return;
    }
    // Whole patches on the left, so that only the last one of all may be smaller.
    std::ptrdiff_t left = count / 2;
    if (count > size_)
      left = (count / size_ + (count % size_ != 0)) / 2 * size_;
    const int axis = longest_side(begin, end);
    std::nth_element(begin, begin + left, end,
                     [this, axis](int a, int b) { return before(a, b, axis); });
    cut(begin, begin + left);
    cut(begin + left, end);
  }

  const std::vector<int*>& ends() const { return ends_; }

private:
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
  int longest_side(const int* begin, const int* end) const {
    Centre low = centre_[std::size_t(*begin)], high = low;
    for (const int* e = begin; e != end; ++e)
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], centre_[std::size_t(*e)][c]);
        high[c] = std::max(high[c], centre_[std::size_t(*e)][c]);
      }
    int axis = 0;
    for (int c = 1; c < 3; ++c)
      if (high[std::size_t(c)] - low[std::size_t(c)] >
          (high[std::size_t(axis)] - low[std::size_t(axis)]) * 1.0001f)
        axis = c;
    return axis;
  }
  /// Whether the nodes of these elements are few enough for a patch.
  bool fits(const int* begin, const int* end) {
    ++stamp_;
    int count = 0;
    for (const int* e = begin; e != end; ++e)
      for (std::size_t a = 0; a < 8; ++a) {
        int& seen = last_seen_[std::size_t(node_[8 * std::size_t(*e) + a])];
        count += seen != stamp_;
        seen = stamp_;
      }
    return count <= 4 * size_;
  }

  const std::vector<std::int32_t>& node_;
  const std::vector<Centre>& centre_;
  int size_;
  std::vector<int> last_seen_;
  int stamp_ = 0;
  std::vector<int*> ends_;
};

std::vector<Centre> element_centres(const ElementMesh& mesh) {
  std::vector<Centre> centre(mesh.num_elem());
  for (std::size_t e = 0; e < centre.size(); ++e)
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t a = 0; a < 8; ++a)
        sum += mesh.point[3 * std::size_t(mesh.node[8 * e + a]) + c];
      centre[e][c] = float(sum / 8);
    }
  return centre;
}

/// Appends the arrays of one patch, whose elements are layout.elem[elem_begin ..].
class PatchWriter {
public:
  PatchWriter(const std::vector<std::int32_t>& node, std::size_t num_points,
              const std::vector<int>& patches_of_node, HexaPatchLayout& layout)
      : node_(node)
      , patches_of_node_(patches_of_node)
      , layout_(layout)
      , local_(num_points, -1) {}

  void write(HexaPatch& patch) {
    list_nodes(patch);
    const std::size_t num_nodes = list_.size(), n = std::size_t(patch.num_elem);
    for (std::size_t i = 0; i < num_nodes; ++i)
      local_[std::size_t(list_[i])] = int(i);
    std::vector<int> count(num_nodes + 1);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t a = 0; a < 8; ++a) {
        const int local = local_[std::size_t(node_of(patch, k, a))];
        layout_.local[8 * (std::size_t(patch.elem_begin) + k) + a] = std::uint16_t(local);
        ++count[std::size_t(local) + 1];
      }
    std::partial_sum(count.begin(), count.end(), count.begin());
    for (int begin : count)
      layout_.slot_begin.push_back(std::uint16_t(begin));
    for (std::size_t k = 0; k < n; ++k) // elements ascend, so slots of a node do
      for (std::size_t a = 0; a < 8; ++a) {
        const std::size_t local = std::size_t(local_[std::size_t(node_of(patch, k, a))]);
        layout_.slot[8 * std::size_t(patch.elem_begin) + std::size_t(count[local]++)] =
            std::uint16_t(a * std::size_t(layout_.patch_size) + k);
      }
    for (int node : list_)
      local_[std::size_t(node)] = -1;
  }

private:
  std::int32_t node_of(const HexaPatch& patch, std::size_t k, std::size_t a) const {
    return node_[8 * std::size_t(layout_.elem[std::size_t(patch.elem_begin) + k]) + a];
  }
  /// The patch's own nodes, then the others, both in the order in which elements have them.
  void list_nodes(HexaPatch& patch) {
    list_.clear();
    patch.node_begin = int(layout_.node.size());
    for (const bool own : {true, false}) {
      for (std::size_t k = 0; k < std::size_t(patch.num_elem); ++k)
        for (std::size_t a = 0; a < 8; ++a) {
          const std::int32_t node = node_of(patch, k, a);
          if ((patches_of_node_[std::size_t(node)] == 1) == own && local_[std::size_t(node)] < 0) {
            local_[std::size_t(node)] = 0;
            list_.push_back(node);
          }
        }
      if (own)
        patch.num_own = int(list_.size());
    }
    patch.num_nodes = int(list_.size());
    layout_.node.insert(layout_.node.end(), list_.begin(), list_.end());
    layout_.max_nodes = std::max(layout_.max_nodes, patch.num_nodes);
  }

  const std::vector<std::int32_t>& node_;
  const std::vector<int>& patches_of_node_;
  HexaPatchLayout& layout_;
  std::vector<int> local_; ///< of the patch at hand, else -1
  std::vector<int> list_;
};

/// Elements in patches, kind by kind.
void cut_into_patches(const ElementMesh& mesh, const std::vector<std::int32_t>& node,
                      const std::vector<int>& kind, HexaPatchLayout& layout) {
  const std::vector<Centre> centre = element_centres(mesh);
  std::vector<int>& elem = layout.elem;
  elem.resize(mesh.num_elem());
  std::iota(elem.begin(), elem.end(), 0);
  if (!kind.empty())
    std::stable_sort(elem.begin(), elem.end(),
                     [&](int a, int b) { return kind[std::size_t(a)] < kind[std::size_t(b)]; });
  Bisection bisection(node, centre, int(mesh.num_points()), layout.patch_size);
  int* const begin = elem.data();
  int* const end = begin + elem.size();
  for (int* first = begin; first != end;) {
    int* last = first;
    while (last != end && (kind.empty() || kind[std::size_t(*last)] == kind[std::size_t(*first)]))
      ++last;
    bisection.cut(first, last);
    first = last;
  }
  for (int* patch_end : bisection.ends()) {
    const int elem_begin =
        layout.patch.empty() ? 0 : layout.patch.back().elem_begin + layout.patch.back().num_elem;
    layout.patch.push_back({elem_begin, int(patch_end - begin) - elem_begin, 0, 0, 0, 0,
                            kind.empty() ? 0 : kind[std::size_t(elem[std::size_t(elem_begin)])]});
  }
}

std::vector<int> count_patches_of_nodes(const std::vector<std::int32_t>& node,
                                        std::size_t num_points, const HexaPatchLayout& layout) {
  std::vector<int> count(num_points), last(num_points, -1);
  for (std::size_t p = 0; p < layout.patch.size(); ++p)
    for (int k = 0; k < layout.patch[p].num_elem; ++k)
      for (std::size_t a = 0; a < 8; ++a) {
        const std::size_t e = std::size_t(layout.elem[std::size_t(layout.patch[p].elem_begin + k)]);
        const std::size_t i = std::size_t(node[8 * e + a]);
        count[i] += last[i] != int(p);
        last[i] = int(p);
      }
  return count;
}

void number_partials(const std::vector<int>& patches_of_node, HexaPatchLayout& layout) {
  std::vector<int> place(patches_of_node.size());
  layout.partial_of_shared.push_back(0);
  for (std::size_t i = 0; i < patches_of_node.size(); ++i)
    if (patches_of_node[i] != 1) { // 0 for a node without elements: its sum is zero
      place[i] = layout.partial_of_shared.back();
      layout.shared.push_back(int(i));
      layout.partial_of_shared.push_back(place[i] + patches_of_node[i]);
    }
  layout.partial.resize(std::size_t(layout.partial_of_shared.back()));
  int next = 0;
  for (HexaPatch& patch : layout.patch) {
    patch.partial_begin = next;
    for (int n = patch.num_own; n < patch.num_nodes; ++n) {
      const std::size_t node = std::size_t(layout.node[std::size_t(patch.node_begin + n)]);
      layout.partial[std::size_t(place[node]++)] = next++;
    }
  }
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
  PatchWriter writer(node, mesh.num_points(), patches_of_node, layout);
  for (HexaPatch& patch : layout.patch)
    writer.write(patch);
  number_partials(patches_of_node, layout);
  return layout;
}

} // namespace ossatura
