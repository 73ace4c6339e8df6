// SPDX-License-Identifier: Apache-2.0
// The reader takes points and elements from format 2.2 of Gmsh.
#include <ossatura/core/io/gmsh/stream.hpp>
#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <cstdlib>

namespace ossatura {
namespace {

/// Counts are text in binary files, too.
std::uint64_t read_count(GmshStream& in, const char* things) {
  std::uint64_t count = 0;
  if (!in.text.next_number(count))
    in.text.bad_word(std::string("the number of ") + things + " is expected");
  if (in.binary)
    in.text.take_line();
  return count;
}

/// An element after its type and number of tags.
void read_element(GmshStream& in, const GmshType& type, std::int64_t num_tags, GmshMesh& out) {
  // physical group, geometrical entity, then partitions
  std::int64_t tissue = 0;
  out.group.clear();
  for (std::int64_t i = 0; i < num_tags; ++i) {
    const std::int64_t tag = in.integer("a tag of the element");
    if (i == 0 || (i == 1 && tissue == 0))
      tissue = tag;
    if (i == 0 && tag != 0)
      out.group.push_back(std::abs(tag));
  }
  std::uint64_t node[gmsh_most_nodes];
  for (std::size_t k = 0; k < type.num_nodes; ++k)
    node[k] = std::uint64_t(in.integer("a node of the element"));
  add_gmsh_element(in, type, node, tissue, out);
}

} // namespace

void read_gmsh_2_nodes(GmshStream& in, GmshMesh& out) {
  const std::uint64_t count = read_count(in, "nodes");
  in.require_plausible(count, 8, 28, "nodes"); // "1 0 0 0\n"
  require_few_points(in.text.path(), count);
  out.nodes.reserve(count);
  out.point.reserve(3 * count);
  for (std::uint64_t i = 0; i < count; ++i) {
    out.nodes.add(std::uint64_t(in.integer("the number of a node")));
    read_gmsh_point(in, out);
  }
}

void read_gmsh_2_elements(GmshStream& in, GmshMesh& out) {
  const std::uint64_t count = read_count(in, "elements");
  in.require_plausible(count, 8, 8, "elements"); // "1 15 0 1\n"
  const auto num_tags_of = [&in](std::int64_t num_tags) {
    if (num_tags < 0 || std::uint64_t(num_tags) > in.text.num_left())
      in.bad(num_tags, " tags of an element: the file is damaged");
    return num_tags;
  };
  for (std::uint64_t i = 0; i < count;) {
    if (!in.binary) {
      out.number = in.integer("the number of an element");
      const GmshType& type = require_gmsh_type(in, in.integer("the type of an element"), out);
      read_element(in, type, num_tags_of(in.integer("the number of tags")), out);
      ++i;
      continue;
    }
    // Blocks of elements of the same type.
    const GmshType& type = require_gmsh_type(in, in.integer("the type of elements"), out);
    const std::int64_t num = in.integer("a number of elements");
    if (num <= 0 || std::uint64_t(num) > count - i)
      in.bad("a block of ", num, " elements where ", count - i, " are left: the file is damaged");
    const std::int64_t num_tags = num_tags_of(in.integer("the number of tags"));
    for (std::int64_t k = 0; k < num; ++k) {
      out.number = in.integer("the number of an element");
      read_element(in, type, num_tags, out);
    }
    i += std::uint64_t(num);
  }
}

} // namespace ossatura
