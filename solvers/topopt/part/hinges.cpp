// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/hinges.hpp>

#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>
#include <ossatura/core/mesh/hexa/faces.hpp>
#include <ossatura/core/mesh/mechanics/rigid_blocks.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ossatura {

namespace {

bool may_have_material(const DesignProblem& problem, std::size_t e) {
  return problem.role.empty() || problem.role[e] != DesignRole::void_;
}

struct FaceOfBlock {
  std::array<std::int32_t, 4> corner; ///< ascending; of a triangle the last one twice
  std::int32_t elem;
};

/// Calls visit(corners, count) for the faces of an element of a mesh.
template<class Visit>
void for_faces(const DesignProblem& problem, std::size_t e, const Visit& visit) {
  const NodeRange nodes = problem.nodes_of(e);
  std::array<std::int32_t, 4> corner{};
  if (!problem.solids) {
    for (const auto& face : hexa_face) {
      for (std::size_t i = 0; i < 4; ++i)
        corner[i] = nodes[std::size_t(face[i])];
      visit(corner, 4);
    }
    return;
  }
  const SolidShape& shape = shape_of(problem.solids->kind[e]);
  for (int f = 0; f < shape.num_faces; ++f) {
    int count = 0;
    for (const int node : shape.face[f])
      if (node >= 0)
        corner[std::size_t(count++)] = nodes[std::size_t(node)];
    if (count >= 3)
      visit(corner, count);
  }
}

void join_by_faces(const DesignProblem& problem, JoinedSets& sets) {
  if (problem.lattice) {
    const LatticeRows& elem = problem.lattice->elem();
    for_parts(problem.num_elem(), 1 << 12, [&](std::size_t first, std::size_t end) {
      for (std::size_t e = first; e < end; ++e)
        for (std::size_t d = 0; d < 3 && may_have_material(problem, e); ++d) {
          std::array<int, 3> next = elem.place(std::int32_t(e));
          ++next[d];
          if (elem.has(next) && may_have_material(problem, std::size_t(elem.number(next))))
            sets.join(std::int32_t(e), elem.number(next));
        }
    });
    return;
  }
  // What may have no material has the faces of nothing, each of which is the same.
  constexpr std::size_t most_faces = 6;
  std::vector<FaceOfBlock> faces(most_faces * problem.num_elem(), FaceOfBlock{{-1, -1, -1, -1}, 0});
  for_parts(problem.num_elem(), 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      if (!may_have_material(problem, e))
        continue;
      FaceOfBlock* face = &faces[most_faces * e];
      for_faces(problem, e, [&](std::array<std::int32_t, 4> corner, int count) {
        corner[3] = count == 3 ? *std::max_element(corner.begin(), corner.begin() + 3) : corner[3];
        std::sort(corner.begin(), corner.end());
        *face++ = {corner, std::int32_t(e)};
      });
    }
  });
  sort_parts(faces, [](const FaceOfBlock& a, const FaceOfBlock& b) {
    return std::tie(a.corner, a.elem) < std::tie(b.corner, b.elem);
  });
  for (std::size_t i = 1; i < faces.size(); ++i)
    if (faces[i].corner[0] >= 0 && faces[i].corner == faces[i - 1].corner)
      sets.join(faces[i].elem, faces[i - 1].elem);
}

/// Calls visit(node) for those of an element.
template<class Visit>
void for_nodes(const DesignProblem& problem, std::size_t e, const Visit& visit) {
  if (!problem.lattice) {
    for (const std::int32_t node : problem.nodes_of(e))
      visit(node);
    return;
  }
  const LatticeBody& body = *problem.lattice;
  const std::array<int, 3> at = body.elem().place(std::int32_t(e));
  for (int corner = 0; corner < 8; ++corner)
    visit(body.node().number(
        {at[0] + (corner & 1), at[1] + (corner >> 1 & 1), at[2] + (corner >> 2)}));
}

/// The blocks of a body, and what each element is of.
struct DesignBlocks {
  RigidBlocks blocks;
  std::vector<std::int32_t> of_elem; ///< [num_elem], -1: void
};

DesignBlocks make_blocks(const DesignProblem& problem) {
  DesignBlocks made;
  JoinedSets sets(problem.num_elem());
  join_by_faces(problem, sets);
  std::unordered_map<std::int32_t, std::int32_t> number;
  made.of_elem.assign(problem.num_elem(), -1);
  for (std::size_t e = 0; e < made.of_elem.size(); ++e)
    if (may_have_material(problem, e))
      made.of_elem[e] =
          number.emplace(sets.find(std::int32_t(e)), std::int32_t(number.size())).first->second;
  const auto count = std::int32_t(number.size());
  if (count < 2)
    return made;
  RigidBlocks& blocks = made.blocks;
  blocks = RigidBlocks(count + std::int32_t(problem.rigid.size()), problem.num_nodes(),
                       problem.bounds(), [&problem](std::int32_t n) { return problem.point(n); });
  for (std::size_t e = 0; e < made.of_elem.size(); ++e)
    if (made.of_elem[e] >= 0)
      for_nodes(problem, e, [&](std::int32_t node) { blocks.add(node, made.of_elem[e]); });
  for (std::size_t i = 0; i < problem.rigid.size(); ++i)
    for (const std::int32_t node : problem.rigid[i])
      blocks.add(node, count + std::int32_t(i));
  for (const HeldComponents& held : problem.held)
    for (int c = 0; c < 3; ++c)
      if ((held.components >> c & 1) != 0)
        blocks.hold(held.node, c);
  for (const NodeSpring& spring : problem.springs)
    if (spring.stiffness > 0)
      blocks.hold(spring.node, spring.component);
  blocks.settle();
  return made;
}

/// Work of forces in the motions of blocks.
RigidBlocks::WorkOfBlock work_of(const RigidBlocks& blocks, const std::vector<NodeForce>& forces) {
  RigidBlocks::WorkOfBlock work;
  for (const NodeForce& one : forces)
    blocks.add_work(one.node, one.force, work);
  return work;
}

std::array<double, 3> centre_of(const DesignProblem& problem, std::size_t e) {
  std::array<double, 3> centre{};
  int count = 0;
  for_nodes(problem, e, [&](std::int32_t node) {
    const std::array<double, 3> x = problem.point(node);
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += x[d];
    ++count;
  });
  for (double& x : centre)
    x /= count;
  return centre;
}

/// Of gravity and rotation, as if all elements had the same mass: a hinge in balance is none
/// however much its sides weigh.
void add_weight(const DesignProblem& problem, const DesignBlocks& made, const BodyLoad& load,
                RigidBlocks::WorkOfBlock& work) {
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    if (made.of_elem[e] < 0)
      continue;
    const std::array<double, 3> x = centre_of(problem, e);
    double along = 0;
    for (std::size_t d = 0; d < 3; ++d)
      along += (x[d] - load.origin[d]) * load.axis[d];
    RigidBlocks::Motion& own = work[made.of_elem[e]];
    for (std::size_t d = 0; d < 3; ++d) {
      const double arm = x[d] - load.origin[d] - along * load.axis[d];
      const RigidBlocks::Motion r = made.blocks.at(x.data(), int(d));
      for (std::size_t i = 0; i < 6; ++i)
        own[i] += (load.acceleration[d] + load.square_speed * arm) * r[i];
    }
  }
}

bool is_whole_box(const DesignProblem& problem) {
  if (!problem.lattice)
    return false;
  const std::array<int, 3>& cells = problem.lattice->cells();
  return problem.lattice->num_elem() == std::int64_t(cells[0]) * cells[1] * cells[2];
}

} // namespace

std::optional<LoadedHinge> find_loaded_hinge(const DesignProblem& problem) {
  const bool has_void =
      std::find(problem.role.begin(), problem.role.end(), DesignRole::void_) != problem.role.end();
  if (!has_void && is_whole_box(problem))
    return std::nullopt;
  DesignBlocks made = make_blocks(problem);
  RigidBlocks& blocks = made.blocks;
  if (blocks.are_held())
    return std::nullopt;
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    const NodeLoads& loads = problem.cases[k].loads;
    RigidBlocks::WorkOfBlock work = work_of(blocks, loads.forces);
    for (const BodyLoad& load : loads.body)
      add_weight(problem, made, load, work);
    if (const std::optional<std::int32_t> node = blocks.find_moved(work))
      return LoadedHinge{CutNode::Use::force, k, *node};
  }
  if (const auto node = blocks.find_moved(work_of(blocks, problem.output)))
    return LoadedHinge{CutNode::Use::output, 0, *node};
  for (std::size_t j = 0; j < problem.limits.size(); ++j)
    if (const auto node = blocks.find_moved(work_of(blocks, problem.limits[j].direction)))
      return LoadedHinge{CutNode::Use::limit, j, *node};
  return std::nullopt;
}

} // namespace ossatura
