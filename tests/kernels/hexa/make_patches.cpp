// SPDX-License-Identifier: Apache-2.0
// Patches by their definition: halves of halves of the elements, sorted anew for each cut, and
// lists that lead from patches to the nodes of their elements.
#include "tests/backend_test.hpp"
#include "tests/kernels/hexa/hexa_cases.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/hexa/make_patches.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

using Centre = std::array<float, 3>;

Centre centre_of(const ElementMesh& mesh, int elem) {
  Centre centre{};
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    for (std::size_t a = 0; a < 8; ++a)
      sum += mesh.point[3 * std::size_t(mesh.node[8 * std::size_t(elem) + a]) + c];
    centre[c] = float(sum / 8);
  }
  return centre;
}

/// Sorts elements by the centre along `axis`, then along the two before it, then by number.
void sort_along(std::vector<int>& elem, const std::vector<Centre>& centre, std::size_t axis) {
  std::sort(elem.begin(), elem.end(), [&](int a, int b) {
    const Centre &p = centre[std::size_t(a)], &q = centre[std::size_t(b)];
    return std::make_tuple(p[axis], p[(axis + 2) % 3], p[(axis + 1) % 3], a) <
           std::make_tuple(q[axis], q[(axis + 2) % 3], q[(axis + 1) % 3], b);
  });
}

std::size_t count_nodes(const ElementMesh& mesh, const std::vector<int>& elem) {
  std::set<int> nodes;
  for (const int e : elem)
    for (std::size_t a = 0; a < 8; ++a)
      nodes.insert(mesh.node[8 * std::size_t(e) + a]);
  return nodes.size();
}

/// Appends the groups that a list of elements is cut into.
void cut(const ElementMesh& mesh, const std::vector<Centre>& centre, std::vector<int> elem,
         std::size_t size, std::vector<std::vector<int>>& groups) {
  const std::size_t count = elem.size();
  if (count <= size && count_nodes(mesh, elem) <= 4 * size) {
    sort_along(elem, centre, 2);
    groups.push_back(elem);
    return;
  }
  std::size_t axis = 0;
  float longest = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    float low = centre[std::size_t(elem[0])][c], high = low;
    for (const int e : elem) {
      low = std::min(low, centre[std::size_t(e)][c]);
      high = std::max(high, centre[std::size_t(e)][c]);
    }
    if (c == 0 || high - low > longest * 1.0001f) {
      axis = c;
      longest = high - low;
    }
  }
  const std::size_t in_front =
      count > size ? (count / size + (count % size != 0)) / 2 * size : count / 2;
  sort_along(elem, centre, axis);
  const auto middle = elem.begin() + std::ptrdiff_t(in_front);
  cut(mesh, centre, {elem.begin(), middle}, size, groups);
  cut(mesh, centre, {middle, elem.end()}, size, groups);
}

/// The groups of all kinds.
std::vector<std::vector<int>> cut_kinds(const ElementMesh& mesh, const std::vector<int>& kind,
                                        int num_kinds, std::size_t size) {
  std::vector<Centre> centre;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    centre.push_back(centre_of(mesh, int(e)));
  std::vector<std::vector<int>> groups;
  for (int k = 0; k < num_kinds; ++k) {
    std::vector<int> of_kind;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      if (kind.empty() || kind[e] == k)
        of_kind.push_back(int(e));
    cut(mesh, centre, of_kind, size, groups);
  }
  return groups;
}

std::map<int, int> count_patches(const std::vector<std::vector<int>>& groups,
                                 const std::vector<std::int32_t>& node_of) {
  std::map<int, int> patches_of_node;
  for (const std::vector<int>& group : groups) {
    std::set<int> nodes;
    for (const int e : group)
      nodes.insert(&node_of[8 * std::size_t(e)], &node_of[8 * std::size_t(e)] + 8);
    for (const int n : nodes)
      ++patches_of_node[n];
  }
  return patches_of_node;
}

/// Each node of several patches, or of none, has the partial sums that these leave.
template<class Exec>
void check_shared(const HexaPatches<Exec>& patches, int num_points,
                  const std::map<int, int>& patches_of_node,
                  const std::map<int, std::vector<int>>& partials_of) {
  const std::vector<int> shared = host_values(patches.shared),
                         partial = host_values(patches.partial),
                         partial_of_shared = host_values(patches.partial_of_shared);
  REQUIRE(partial.size() == std::size_t(patches.num_partials));
  std::size_t s = 0;
  for (int n = 0; n < num_points; ++n) {
    const auto of_node = patches_of_node.find(n);
    if (of_node != patches_of_node.end() && of_node->second == 1)
      continue;
    REQUIRE(s < shared.size());
    REQUIRE(shared[s] == n);
    const std::vector<int> listed(partial.begin() + partial_of_shared[s],
                                  partial.begin() + partial_of_shared[s + 1]);
    const auto partials = partials_of.find(n);
    REQUIRE(listed == (partials == partials_of.end() ? std::vector<int>() : partials->second));
    ++s;
  }
  REQUIRE(s == shared.size());
  REQUIRE(patches.num_shared == int(s));
}

template<class Exec>
void check_patches(const ElementMesh& mesh, const std::vector<std::int32_t>& turned,
                   const std::vector<int>& kind, int num_kinds) {
  const Exec exec;
  constexpr int size = hexa_patch_size<Exec>;
  const std::vector<std::int32_t>& node_of = turned.empty() ? mesh.node : turned;
  const HexaPatches<Exec> patches =
      make_hexa_patches(exec, make_hexa_arrays(exec, mesh), turned, kind, num_kinds);
  const std::vector<std::vector<int>> groups = cut_kinds(mesh, kind, num_kinds, std::size_t(size));
  std::map<int, int> patches_of_node = count_patches(groups, node_of);
  const std::vector<int> elem = host_values(patches.elem), node = host_values(patches.node);
  const std::vector<std::uint16_t> local = host_values(patches.local),
                                   slot = host_values(patches.slot),
                                   slot_begin = host_values(patches.slot_begin);
  const std::vector<HexaPatch> patch = host_values(patches.patch);
  REQUIRE(patch.size() == groups.size());
  REQUIRE(patches.num_patches == int(groups.size()));

  int elem_begin = 0, node_begin = 0, partial_begin = 0;
  std::map<int, std::vector<int>> partials_of; // of a node
  for (std::size_t p = 0; p < patch.size(); ++p) {
    const HexaPatch& at = patch[p];
    REQUIRE(at.elem_begin == elem_begin);
    REQUIRE(at.node_begin == node_begin);
    REQUIRE(at.partial_begin == partial_begin);
    REQUIRE(at.num_elem == int(groups[p].size()));
    REQUIRE(at.kind == (kind.empty() ? 0 : kind[std::size_t(groups[p][0])]));
    REQUIRE(std::equal(groups[p].begin(), groups[p].end(), elem.begin() + elem_begin));
    std::vector<int> own, others, known;
    std::map<int, std::vector<int>> slots; // of a node of the patch
    for (int k = 0; k < at.num_elem; ++k)
      for (int a = 0; a < 8; ++a) {
        const int n = node_of[8 * std::size_t(groups[p][std::size_t(k)]) + std::size_t(a)];
        const int number = local[std::size_t(8 * (elem_begin + k) + a)];
        REQUIRE(number < at.num_nodes);
        REQUIRE(node[std::size_t(node_begin + number)] == n);
        slots[number].push_back(a * size + k);
        if (std::find(known.begin(), known.end(), n) == known.end()) {
          known.push_back(n);
          (patches_of_node[n] == 1 ? own : others).push_back(n);
        }
      }
    REQUIRE(at.num_own == int(own.size()));
    REQUIRE(at.num_nodes == int(known.size()));
    own.insert(own.end(), others.begin(), others.end());
    REQUIRE(std::equal(own.begin(), own.end(), node.begin() + node_begin));
    for (int n = at.num_own; n < at.num_nodes; ++n)
      partials_of[own[std::size_t(n)]].push_back(partial_begin + n - at.num_own);
    if (BackendTraits<Exec>::is_device)
      for (int n = 0; n < at.num_nodes; ++n) {
        const std::size_t begins = std::size_t(node_begin) + p + std::size_t(n);
        REQUIRE(std::size_t(slot_begin[begins + 1] - slot_begin[begins]) == slots[n].size());
        for (std::size_t k = 0; k < slots[n].size(); ++k)
          REQUIRE(slot[8 * std::size_t(elem_begin) + slot_begin[begins] + k] == slots[n][k]);
      }
    elem_begin += at.num_elem;
    node_begin += at.num_nodes;
    partial_begin += at.num_nodes - at.num_own;
  }
  REQUIRE(patches.num_partials == partial_begin);
  check_shared(patches, int(mesh.num_points()), patches_of_node, partials_of);
}

/// A box whose elements are listed at random.
ElementMesh shuffled_box(const int (&cells)[3], bool distorted) {
  ElementMesh box =
      distorted ? test::distorted_box({cells[0], cells[1], cells[2]}, 3)
                : make_hexa_box(cells, {double(cells[0]), double(cells[1]), double(cells[2])});
  std::vector<std::size_t> order(box.num_elem());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  ElementMesh mesh = box;
  for (std::size_t e = 0; e < order.size(); ++e)
    std::copy_n(box.node.begin() + std::ptrdiff_t(8 * order[e]), 8,
                mesh.node.begin() + std::ptrdiff_t(8 * e));
  return mesh;
}

OSSATURA_BACKEND_TEST("Patches of a box are halves of halves", "[hexa_patches]") {
  check_patches<TestType>(shuffled_box({20, 17, 12}, false), {}, {}, 1);
  check_patches<TestType>(shuffled_box({1, 1, 1}, false), {}, {}, 1);
}

OSSATURA_BACKEND_TEST("Patches of a turned and distorted box are halves of halves",
                      "[hexa_patches]") {
  check_patches<TestType>(shuffled_box({11, 18, 13}, true), {}, {}, 1);
}

OSSATURA_BACKEND_TEST("Patches have four nodes for each of their elements at most",
                      "[hexa_patches]") {
  check_patches<TestType>(shuffled_box({700, 1, 1}, false), {}, {}, 1); // a row has more
}

OSSATURA_BACKEND_TEST("Patches are of one kind, with nodes in the order that is wanted",
                      "[hexa_patches]") {
  const ElementMesh mesh = shuffled_box({14, 9, 16}, true);
  std::mt19937 random(9);
  std::vector<int> kind(mesh.num_elem());
  std::vector<std::int32_t> turned = mesh.node;
  for (std::size_t e = 0; e < kind.size(); ++e) {
    kind[e] = e < 3 ? int(e) : int(random() % 3);
    std::shuffle(&turned[8 * e], &turned[8 * e] + 8, random);
  }
  check_patches<TestType>(mesh, turned, kind, 3);
}

OSSATURA_BACKEND_TEST("Nodes without elements have a sum of their own", "[hexa_patches]") {
  ElementMesh mesh = shuffled_box({9, 9, 9}, false);
  mesh.point.insert(mesh.point.begin(), {50, 50, 50});
  for (std::int32_t& node : mesh.node)
    ++node;
  mesh.point.insert(mesh.point.end(), {-50, 50, 50});
  check_patches<TestType>(mesh, {}, {}, 1);
}

OSSATURA_BACKEND_TEST("Kinds and nodes of other lengths are refused", "[hexa_patches]") {
  const TestType exec;
  const HexaArrays<TestType> arrays = make_hexa_arrays(exec, shuffled_box({2, 2, 2}, false));
  CHECK_THROWS_AS(make_hexa_patches(exec, arrays, {}, {0, 1}, 2), std::invalid_argument);
  CHECK_THROWS_AS(make_hexa_patches(exec, arrays, {}, {}, 2), std::invalid_argument);
  CHECK_THROWS_AS(make_hexa_patches(exec, arrays, {1, 2, 3}, {}, 1), std::invalid_argument);
}

} // namespace
