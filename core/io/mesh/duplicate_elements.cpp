// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/duplicate_elements.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace ossatura {
namespace {

/// Of the nodes in any sequence; well mixed, so that no mesh makes many elements meet.
std::uint64_t hash_of(const std::int32_t* node, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t a = 0; a < count; ++a) {
    std::uint64_t hash = (0x9e3779b97f4a7c15u ^ std::uint32_t(node[a])) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53u;
    sum += hash ^ hash >> 29;
  }
  return (sum ^ sum >> 31) * 0xff51afd7ed558ccdu;
}

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

struct Entry {
  std::uint32_t elem = none, tag = 0; ///< bits of the hash
};

/// Elements by the first bits of their hashes: those of equal nodes are in one part, ascending.
class Parts {
public:
  static constexpr std::size_t count = 64;

  Parts(const std::vector<std::int32_t>& node, std::size_t nodes_per_elem) {
    const std::size_t num_elem = node.size() / nodes_per_elem, elems_of_block = 1 << 15,
                      num_blocks = (num_elem + elems_of_block - 1) / elems_of_block;
    const auto for_elements = [&](const auto& visit) {
      for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
        for (std::size_t block = first; block < end; ++block)
          for (std::size_t elem = elems_of_block * block;
               elem < std::min(num_elem, elems_of_block * (block + 1)); ++elem) {
            const std::uint64_t hash = hash_of(&node[elem * nodes_per_elem], nodes_per_elem);
            visit(block, std::size_t(hash >> 58), Entry{std::uint32_t(elem), std::uint32_t(hash)});
          }
      });
    };
    std::vector<std::array<std::size_t, count>> place(num_blocks); // counts at first
    for_elements([&](std::size_t block, std::size_t part, Entry) { ++place[block][part]; });
    std::size_t sum = 0;
    for (std::size_t part = 0; part < count; ++part) {
      begin_[part] = sum;
      for (std::array<std::size_t, count>& of_block : place)
        sum += std::exchange(of_block[part], sum);
    }
    begin_[count] = sum;
    entry_.resize(sum);
    for_elements([&](std::size_t block, std::size_t part, Entry entry) {
      entry_[place[block][part]++] = entry;
    });
  }

  const Entry* begin(std::size_t part) const { return entry_.data() + begin_[part]; }
  const Entry* end(std::size_t part) const { return begin(part + 1); }

private:
  std::size_t begin_[count + 1];
  std::vector<Entry> entry_;
};

std::optional<DuplicateElement> find_in_part(const std::vector<std::int32_t>& node,
                                             std::size_t nodes_per_elem, const Entry* begin,
                                             const Entry* end) {
  const auto have_same_nodes = [&](std::uint32_t a, std::uint32_t b) {
    const std::int32_t* const first = &node[a * nodes_per_elem];
    return std::is_permutation(first, first + nodes_per_elem, &node[b * nodes_per_elem]);
  };
  // Four fifths full at the end; the next place where one is taken.
  const std::size_t size = std::size_t(end - begin);
  std::vector<Entry> table(size + size / 4 + 1);
  for (const Entry* entry = begin; entry != end; ++entry) {
    std::size_t at = std::size_t(std::uint64_t(entry->tag) * table.size() >> 32);
    for (; table[at].elem != none; at = at + 1 == table.size() ? 0 : at + 1)
      if (table[at].tag == entry->tag && have_same_nodes(table[at].elem, entry->elem))
        return DuplicateElement{table[at].elem, entry->elem};
    table[at] = *entry;
  }
  return {};
}

} // namespace

std::optional<DuplicateElement> find_duplicate_element(const std::vector<std::int32_t>& node,
                                                       int nodes_per_elem) {
  OSSATURA_REQUIRE(nodes_per_elem >= 1 && nodes_per_elem <= 8,
                   nodes_per_elem << " nodes an element");
  const std::size_t count = std::size_t(nodes_per_elem);
  OSSATURA_REQUIRE(node.size() / count < none, node.size() / count << " elements");
  const Parts parts(node, count);
  std::optional<DuplicateElement> found[Parts::count];
  for_parts(Parts::count, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t part = first; part < end; ++part)
      found[part] = find_in_part(node, count, parts.begin(part), parts.end(part));
  });
  std::optional<DuplicateElement> earliest;
  for (const auto& one : found)
    if (one && (!earliest || one->second < earliest->second))
      earliest = one;
  return earliest;
}

} // namespace ossatura
