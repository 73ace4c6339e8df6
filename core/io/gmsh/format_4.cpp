// SPDX-License-Identifier: Apache-2.0
// The reader takes points and elements from format 4.1 of Gmsh, which stores them in blocks, one
// for each geometrical entity.
#include <ossatura/core/io/gmsh/stream.hpp>
#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <cstdlib>

namespace ossatura {
namespace {

/// A list that begins with its length.
std::vector<std::int64_t> read_list(GmshStream& in, const char* things) {
  const std::uint64_t count = in.size(things);
  in.require_plausible(count, 2, 4, things);
  std::vector<std::int64_t> list(count);
  for (std::int64_t& number : list)
    number = in.integer(things);
  return list;
}

struct Block {
  std::int64_t dimension, entity, kind; ///< whether nodes are parametric, or the type of elements
  std::uint64_t count;
};

/// `left` of all are still to come.
Block read_block(GmshStream& in, const char* things, std::uint64_t left) {
  Block block{};
  block.dimension = in.integer("the dimension of an entity");
  block.entity = in.integer("the tag of an entity");
  block.kind = in.integer("the kind of a block");
  block.count = in.size("the number of things in a block");
  if (block.dimension < 0 || block.dimension > 3)
    in.bad("an entity of ", block.dimension, " dimensions: the file is damaged");
  if (block.count > left)
    in.bad("a block of ", block.count, " ", things, " where ", left,
           " are left: the file is damaged");
  return block;
}

} // namespace

void read_gmsh_4_entities(GmshStream& in, bool partitioned, GmshEntities& entities) {
  if (partitioned) {
    in.size("the number of partitions");
    const std::uint64_t num_ghosts = in.size("the number of ghost entities");
    in.require_plausible(num_ghosts, 4, 8, "ghost entities");
    for (std::uint64_t i = 0; i < 2 * num_ghosts; ++i)
      in.integer("a ghost entity");
    entities.clear(); // elements name the parts, which have physical groups of their own
  }
  std::uint64_t count[4] = {};
  for (std::uint64_t& n : count)
    n = in.size("a number of entities");
  for (int dimension = 0; dimension < 4; ++dimension) {
    in.require_plausible(count[dimension], 10, 36, "entities");
    for (std::uint64_t i = 0; i < count[dimension]; ++i) {
      const std::int64_t entity = in.integer("the tag of an entity");
      std::int64_t parent = entity;
      if (partitioned) {
        in.integer("the dimension of a parent");
        parent = in.integer("the tag of a parent");
        read_list(in, "partitions of an entity");
      }
      for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k)
        in.real("the box of an entity");
      std::vector<std::int64_t> group = read_list(in, "physical groups of an entity");
      if (dimension > 0)
        read_list(in, "bounding entities");
      // Groups are negative where the orientation is reversed.
      for (std::int64_t& number : group)
        number = std::abs(number);
      const std::int64_t tissue = group.empty() || group[0] == 0 ? parent : group[0];
      entities.insert({{dimension, entity}, {tissue, std::move(group)}});
    }
  }
}

void read_gmsh_4_nodes(GmshStream& in, GmshMesh& out) {
  const std::uint64_t num_blocks = in.size("the number of blocks of nodes");
  const std::uint64_t count = in.size("the number of nodes");
  in.size("the least number of a node");
  in.size("the largest number of a node");
  in.require_plausible(count, 8, 32, "nodes");
  require_few_points(in.text.path(), count);
  out.nodes.reserve(count);
  out.point.reserve(3 * count);
  for (std::uint64_t b = 0; b < num_blocks; ++b) {
    const Block block = read_block(in, "nodes", count - out.nodes.size());
    for (std::uint64_t i = 0; i < block.count; ++i)
      out.nodes.add(in.size("the number of a node"));
    for (std::uint64_t i = 0; i < block.count; ++i) {
      read_gmsh_point(in, out);
      for (std::int64_t k = 0; block.kind != 0 && k < block.dimension; ++k)
        in.real("a parameter of a node");
    }
  }
  if (out.nodes.size() != count)
    in.bad("the blocks have ", out.nodes.size(), " nodes, but the section announces ", count);
}

void read_gmsh_4_elements(GmshStream& in, const GmshEntities& entities, GmshMesh& out) {
  const std::uint64_t num_blocks = in.size("the number of blocks of elements");
  const std::uint64_t count = in.size("the number of elements");
  in.size("the least number of an element");
  in.size("the largest number of an element");
  in.require_plausible(count, 4, 16, "elements"); // "1 1\n"
  std::uint64_t num_read = 0;
  for (std::uint64_t b = 0; b < num_blocks; ++b) {
    const Block block = read_block(in, "elements", count - num_read);
    const GmshType& type = require_gmsh_type(in, block.kind, out);
    const auto found = entities.find({type.dimension, block.entity});
    const std::int64_t tissue = found == entities.end() ? block.entity : found->second.tissue;
    if (found == entities.end())
      out.group.clear();
    else
      out.group = found->second.group;
    for (std::uint64_t i = 0; i < block.count; ++i) {
      out.number = std::int64_t(in.size("the number of an element"));
      std::uint64_t node[gmsh_most_nodes];
      for (std::size_t k = 0; k < type.num_nodes; ++k)
        node[k] = in.size("a node of the element");
      add_gmsh_element(in, type, node, tissue, out);
    }
    num_read += block.count;
  }
  if (num_read != count)
    in.bad("the blocks have ", num_read, " elements, but the section announces ", count);
}

} // namespace ossatura
