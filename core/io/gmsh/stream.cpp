// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/gmsh/stream.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {
namespace {

// [1] of read_mesh.hpp, "elm-type".
constexpr GmshType types[] = {
    {1, 1, 2, "lines"},
    {2, 2, 3, "triangles"},
    {3, 2, 4, "quadrangles"},
    {4, 3, 4, "tetrahedra"},
    {5, 3, 8, "hexahedra"},
    {6, 3, 6, "prisms"},
    {7, 3, 5, "pyramids"},
    {8, 1, 3, "second-order lines"},
    {9, 2, 6, "second-order triangles"},
    {10, 2, 9, "second-order quadrangles"},
    {11, 3, 10, "second-order tetrahedra"},
    {12, 3, 27, "second-order hexahedra"},
    {13, 3, 18, "second-order prisms"},
    {14, 3, 14, "second-order pyramids"},
    {15, 0, 1, "points"},
    {16, 2, 8, "second-order quadrangles"},
    {17, 3, 20, "second-order hexahedra"},
    {18, 3, 15, "second-order prisms"},
    {19, 3, 13, "second-order pyramids"},
    {20, 2, 9, "third-order triangles"},
    {21, 2, 10, "third-order triangles"},
    {22, 2, 12, "fourth-order triangles"},
    {23, 2, 15, "fourth-order triangles"},
    {24, 2, 15, "fifth-order triangles"},
    {25, 2, 21, "fifth-order triangles"},
    {26, 1, 4, "third-order lines"},
    {27, 1, 5, "fourth-order lines"},
    {28, 1, 6, "fifth-order lines"},
    {29, 3, 20, "third-order tetrahedra"},
    {30, 3, 35, "fourth-order tetrahedra"},
    {31, 3, 56, "fifth-order tetrahedra"},
    {36, 2, 16, "third-order quadrangles"},
    {92, 3, 64, "third-order hexahedra"},
    {93, 3, 125, "fourth-order hexahedra"},
};

std::int64_t require_node(const GmshStream& in, std::uint64_t tag, const GmshNodes& nodes) {
  const std::int64_t node = nodes.find(tag);
  if (node < 0)
    in.bad("the element names node ", tag, ", which is none of the ", nodes.size(),
           " nodes of the file: it is damaged; export the mesh again");
  return node;
}

} // namespace

const GmshType* find_gmsh_type(std::int64_t number) {
  const auto* found =
      std::find_if(std::begin(types), std::end(types),
                   [number](const GmshType& type) { return type.number == number; });
  return found == std::end(types) ? nullptr : found;
}

const GmshType& require_gmsh_type(const GmshStream& in, std::int64_t number, GmshMesh& out) {
  const GmshType* type = find_gmsh_type(number);
  if (type == nullptr)
    in.bad("elements of Gmsh's type ", number, " are not known; save a mesh of first order");
  out.accept(in, *type);
  return *type;
}

std::optional<std::uint64_t> GmshNodes::sort() {
  if (tag_.empty())
    return std::nullopt;
  const auto [low, high] = std::minmax_element(tag_.begin(), tag_.end());
  lowest_ = *low;
  if (*high - lowest_ < 4 * tag_.size() + 1024) {
    node_.assign(*high - lowest_ + 1, -1);
    for (std::size_t i = 0; i < tag_.size(); ++i) {
      std::int32_t& node = node_[tag_[i] - lowest_];
      if (node >= 0)
        return tag_[i];
      node = std::int32_t(i);
    }
    return std::nullopt;
  }
  entry_.reserve(tag_.size());
  for (std::size_t i = 0; i < tag_.size(); ++i)
    entry_.push_back({tag_[i], std::int32_t(i)});
  std::sort(entry_.begin(), entry_.end(),
            [](const Entry& a, const Entry& b) { return a.tag < b.tag; });
  for (std::size_t i = 1; i < entry_.size(); ++i)
    if (entry_[i].tag == entry_[i - 1].tag)
      return entry_[i].tag;
  return std::nullopt;
}

std::int64_t GmshNodes::find(std::uint64_t tag) const {
  if (entry_.empty())
    return tag < lowest_ || tag - lowest_ >= node_.size() ? -1 : node_[tag - lowest_];
  const auto found = std::lower_bound(entry_.begin(), entry_.end(), tag,
                                      [](const Entry& e, std::uint64_t t) { return e.tag < t; });
  return found == entry_.end() || found->tag != tag ? -1 : found->node;
}

void read_gmsh_point(GmshStream& in, GmshMesh& out) {
  for (int axis = 0; axis < 3; ++axis) {
    const double x = in.real("a coordinate") * out.unit;
    if (!std::isfinite(x))
      in.bad("a coordinate is not finite");
    out.point.push_back(x);
  }
}

void add_gmsh_element(const GmshStream& in, const GmshType& type, const std::uint64_t* tag,
                      std::int64_t tissue, GmshMesh& out) {
  std::int64_t node[gmsh_most_nodes];
  for (std::size_t k = 0; k < type.num_nodes; ++k)
    node[k] = require_node(in, tag[k], out.nodes);
  out.add(in, type, node, tissue);
}

} // namespace ossatura
