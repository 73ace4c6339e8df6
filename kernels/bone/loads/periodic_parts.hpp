// SPDX-License-Identifier: Apache-2.0
// The parts of a unit cell, the image of which repeats without end, meet across its sides. What
// they make together either leads through the cell to its own next image, along some period, or is
// bounded: then it carries nothing, whatever the strain. Periods are found as in the search for
// percolating clusters on a torus: a part is given a number of periods by which it lies off the
// first of its body, and a body leads on where two ways give one part two numbers [1].
//
// [1] J. Machta, Y. Choi, A. Lucke, T. Schweizer, L. Chayes. Invaded cluster algorithm for Potts
//     models. Phys. Rev. E 54 (1996) 1332-1345, doi:10.1103/PhysRevE.54.1332.
#pragma once

#include <ossatura/kernels/bone/loads/parts.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace ossatura {

/// Parts of a cell that are one body.
struct PeriodicBody {
  std::int64_t num_voxels = 0;
  std::array<bool, 3> leads{false, false, false}; ///< by a period along x, y, z

  bool is_bounded() const { return !leads[0] && !leads[1] && !leads[2]; }
};

struct PeriodicBodies {
  std::vector<PeriodicBody> list; ///< by their first parts
  std::vector<int> of_part;       ///< [parts] indices into `list`

  /// The axes along which none of them leads on, such as "x, z"; empty where there is none.
  std::string open_axes() const {
    std::string axes;
    for (std::size_t d = 0; d < 3; ++d)
      if (std::none_of(list.begin(), list.end(),
                       [d](const PeriodicBody& body) { return body.leads[d]; }))
        axes += std::string(axes.empty() ? "" : ", ") + "xyz"[d];
    return axes;
  }
};

namespace detail {

/// Two parts with copies of one node, `offset` periods from the first to the second, each component
/// -1, 0 or 1.
struct PeriodicContact {
  int first, second;
  std::array<int, 3> offset;
};

/// A contact in a word, by which equal ones are found.
KOKKOS_INLINE_FUNCTION std::uint64_t pack_contact(int first, int second, const int (&offset)[3]) {
  const int code = offset[0] + 1 + 3 * (offset[1] + 1) + 9 * (offset[2] + 1);
  return std::uint64_t(first) << 34 | std::uint64_t(second) << 5 | std::uint64_t(code);
}
inline PeriodicContact unpack_contact(std::uint64_t packed) {
  const int code = int(packed & 31);
  return {int(packed >> 34),
          int(packed >> 5 & ((1u << 29) - 1)),
          {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1}};
}

/// Nodes on the upper sides, each with the first of the nodes that are copies of it.
template<class Exec>
struct ListContacts {
  VoxelGrid<Exec> grid;
  Array<int, Exec> part;
  Array<std::uint64_t, Exec> contact; ///< empty in the first pass

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    const Site s = grid.site(int(node));
    const auto& n = grid.shape;
    const int here[3] = {s.x == n[0], s.y == n[1], s.z == n[2]};
    if (here[0] + here[1] + here[2] == 0)
      return;
    const int base[3] = {s.x % n[0], s.y % n[1], s.z % n[2]};
    for (int copy = 0; copy < 8; ++copy) { // the periods from the lowest one
      int there[3], place[3];
      bool is_copy = true;
      for (int d = 0; d < 3; ++d) {
        there[d] = copy >> d & 1;
        place[d] = base[d] + there[d] * n[d];
        is_copy = is_copy && place[d] <= n[d];
      }
      const int other = is_copy ? grid.find(place[0], place[1], place[2]) : -1;
      if (other < 0)
        continue;
      if (other == int(node))
        return; // it is the first
      if (final && contact.extent(0) > 0) {
        const int offset[3] = {here[0] - there[0], here[1] - there[1], here[2] - there[2]};
        contact(sum) = pack_contact(part(other), part(node), offset);
      }
      ++sum;
      return;
    }
  }
};

/// Union-find over parts, each with the periods from its parent to it.
class BodiesOnTorus {
public:
  explicit BodiesOnTorus(std::size_t num_parts)
      : parent_(num_parts)
      , offset_(num_parts)
      , leads_(num_parts) {
    for (std::size_t i = 0; i < num_parts; ++i)
      parent_[i] = int(i);
  }

  void join(const PeriodicContact& contact) {
    const Place a = find(contact.first), b = find(contact.second);
    // A copy of the second part that is `offset` periods before it touches the first.
    std::array<int, 3> step{};
    for (std::size_t d = 0; d < 3; ++d)
      step[d] = a.offset[d] - contact.offset[d] - b.offset[d];
    const std::size_t low = std::size_t(std::min(a.root, b.root)),
                      high = std::size_t(std::max(a.root, b.root));
    for (std::size_t d = 0; d < 3; ++d) {
      if (low == high)
        leads_[low][d] = leads_[low][d] || step[d] != 0;
      else
        leads_[low][d] = leads_[low][d] || leads_[high][d];
      if (low != high)
        offset_[high][d] = b.root == int(high) ? step[d] : -step[d];
    }
    parent_[high] = int(low);
  }

  PeriodicBodies bodies(const std::vector<SpecimenPart>& parts) {
    PeriodicBodies found;
    std::vector<int> of_root(parts.size(), -1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t root = std::size_t(find(int(i)).root);
      if (of_root[root] < 0) {
        of_root[root] = int(found.list.size());
        found.list.push_back({0, leads_[root]});
      }
      found.of_part.push_back(of_root[root]);
      found.list[std::size_t(of_root[root])].num_voxels += parts[i].num_voxels;
    }
    return found;
  }

private:
  struct Place {
    int root;
    std::array<int, 3> offset; ///< periods from the root
  };

  /// Shortens the way to the root.
  Place find(int part) {
    std::vector<int> way;
    for (; parent_[std::size_t(part)] != part; part = parent_[std::size_t(part)])
      way.push_back(part);
    std::array<int, 3> sum{};
    for (std::size_t i = way.size(); i-- > 0;) {
      std::array<int, 3>& offset = offset_[std::size_t(way[i])];
      for (std::size_t d = 0; d < 3; ++d)
        sum[d] = offset[d] += sum[d];
      parent_[std::size_t(way[i])] = part;
    }
    return {part, sum};
  }

  std::vector<int> parent_;
  std::vector<std::array<int, 3>> offset_;
  std::vector<std::array<bool, 3>> leads_; ///< of roots
};

} // namespace detail

/// The bodies that the parts of a unit cell make; `grid` is that of one cell, without a rim.
/// Fences.
template<class Exec>
PeriodicBodies join_periodic_parts(const Exec& exec, const VoxelGrid<Exec>& grid,
                                   const SpecimenParts<Exec>& parts) {
  OSSATURA_REQUIRE(parts.list.size() < std::size_t(1) << 29, parts.list.size()
                                                                 << " parts of a unit cell");
  std::int64_t count = 0;
  Array<std::uint64_t, Exec> contact;
  const auto list = [&] {
    Kokkos::parallel_scan("ossatura::join_periodic_parts", range(exec, grid.num_nodes),
                          detail::ListContacts<Exec>{grid, parts.of_node, contact}, count);
  };
  list();
  contact = make_uninitialized<std::uint64_t>(exec, count, "ossatura::periodic_parts::contact");
  list();
  std::vector<std::uint64_t> packed = download(exec, contact);
  std::sort(packed.begin(), packed.end());
  packed.erase(std::unique(packed.begin(), packed.end()), packed.end());
  detail::BodiesOnTorus bodies(parts.list.size());
  for (const std::uint64_t word : packed)
    bodies.join(detail::unpack_contact(word));
  return bodies.bodies(parts.list);
}

} // namespace ossatura
