// SPDX-License-Identifier: Apache-2.0
// The reader makes a model of hexahedra from a Gmsh file.
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/gmsh/stream.hpp>
#include <ossatura/core/io/mesh/hexa_parts.hpp>
#include <ossatura/core/io/mesh/second_order_hexa.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ossatura {
namespace {

/// By dimension and number of the group: hexahedra, or nodes of what has no volume.
using Groups = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int32_t>>;

class GmshHexa : public GmshMesh {
public:
  /// second_order: hexahedra of 20 or 27 nodes are taken, too.
  GmshHexa(const std::string& path, double unit, bool second_order)
      : GmshMesh(1)
      , second_order_(second_order) {
    parts_.path = path;
    parts_.unit = unit;
    parts_.node_name = [this](std::size_t place) {
      return "node " + std::to_string(nodes.tag(place));
    };
    parts_.elem_name = [this](std::size_t place) { return elem_name(place); };
  }
  HexaFile file;
  std::shared_ptr<const HexaMap> map; ///< of second order, or null

  void accept(const GmshStream& in, const GmshType& type) override {
    in_ = &in;
    if (type.dimension != 3)
      return;
    if (type.number != gmsh_hexa &&
        !(second_order_ && (type.number == gmsh_hexa_20 || type.number == gmsh_hexa_27)))
      in.bad("type ", type.number, ", ", type.name, ": of volume elements, hexahedra of first ",
             second_order_ ? "and second order" : "order", " are solved; mesh with these alone");
    if (type_ != nullptr && type_ != &type)
      in.bad("type ", type.number, ", ", type.name, ", after type ", type_->number, ", ",
             type_->name,
             ": all hexahedra of a mesh are to be of one type; set the order of the "
             "whole mesh (gmsh -order 2 -save)");
    type_ = &type;
  }

  void add(const GmshStream& in, const GmshType& type, const std::int64_t* node,
           std::int64_t) override {
    const bool is_hexa = type.dimension == 3;
    for (const std::int64_t of : group) {
      std::vector<std::int32_t>& members = groups_[{type.dimension, of}];
      if (is_hexa)
        members.push_back(std::int32_t(position_.size()));
      else
        members.insert(members.end(), node, node + type.num_nodes);
      if (type.number == gmsh_quadrangle || type.number == gmsh_quadrangle_8 ||
          type.number == gmsh_quadrangle_9)
        faces_[of].push_back({std::int32_t(node[0]), std::int32_t(node[1]), std::int32_t(node[2]),
                              std::int32_t(node[3])});
      if (type.dimension == 1) // its ends come first
        edges_[of].push_back({std::int32_t(node[0]), std::int32_t(node[1])});
    }
    if (is_hexa) {
      node_.insert(node_.end(), node, node + type.num_nodes);
      position_.push_back(in.text.position());
      number_.push_back(number);
    }
  }

  void finish(GmshStream&) override {
    merge_copies();
    for (auto& [key, members] : groups_) {
      const std::string name = name_of_group(key);
      auto& set = (key.first == 3 ? parts_.elem_sets : parts_.node_sets)[name];
      set.insert(set.end(), members.begin(), members.end());
      if (key.first < 2)
        parts_.face_sets[name]; // has none
    }
    for (const auto& [number, edges] : edges_) {
      auto& set = parts_.edge_sets[name_of_group({1, number})];
      set.insert(set.end(), edges.begin(), edges.end());
    }
    for (const auto& [number, faces] : faces_) {
      auto& set = parts_.face_sets[name_of_group({2, number})];
      set.insert(set.end(), faces.begin(), faces.end());
    }
    const std::size_t nodes_per_elem = type_ == nullptr ? 8 : type_->num_nodes;
    for (std::size_t begin = 0; begin < node_.size(); begin += nodes_per_elem)
      parts_.node.insert(parts_.node.end(), node_.begin() + std::ptrdiff_t(begin),
                         node_.begin() + std::ptrdiff_t(begin + 8));
    if (nodes_per_elem == 8) {
      parts_.point = std::move(point);
      file = make_hexa_file(std::move(parts_));
      return;
    }
    parts_.point = point;
    for (double& x : point)
      x *= parts_.unit;
    std::vector<bool> turned;
    file = make_hexa_file(std::move(parts_), &turned);
    make_map(turned);
    count_unused();
  }

private:
  /// Gmsh numbers groups for each dimension. Where one number is of several without a name whose
  /// nodes are sets, these are told apart, "curve 1" and "surface 1".
  std::string name_of_group(const std::pair<std::int64_t, std::int64_t>& key) const {
    constexpr const char* kinds[] = {"point ", "curve ", "surface "};
    const auto [dimension, number] = key;
    if (const auto named = group_name.find(key); named != group_name.end())
      return named->second;
    const std::string name = std::to_string(number);
    for (std::int64_t other = 0; other < 3; ++other)
      if (dimension < 3 && other != dimension && groups_.count({other, number}) > 0 &&
          group_name.count({other, number}) == 0)
        return kinds[dimension] + name;
    return name;
  }

  std::string elem_name(std::size_t place) const {
    GmshStream there(*in_);
    there.text.seek(position_[place]);
    return there.place() + ": element " + std::to_string(number_[place]);
  }

  void make_map(const std::vector<bool>& turned) {
    const std::string& path = in_->text.path();
    std::vector<double> points = second_order_points(point, node_, type_->num_nodes, turned);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (!std::isfinite(points[i]))
        fail<InputError>(path, ": ", elem_name(i / 81), ": a coordinate is not finite in m");
    map = make_quadratic_map(std::move(points));
    for (std::size_t elem = 0; elem < turned.size(); ++elem)
      if (!is_right_way_round(*map, std::int64_t(elem)))
        fail<InputError>(path, ": ", elem_name(elem),
                         ": the second-order hexahedron is inside out in part, though its vertices "
                         "alone are not: its middle nodes are in the order of another program "
                         "(that of VTK and that of Abaqus are not Gmsh's), or the surface is "
                         "curved too much: mesh finer there, or optimise the mesh "
                         "(gmsh -optimize_ho)");
  }

  /// Middle nodes of elements are used, but are no points of the model.
  void count_unused() {
    std::vector<bool> used(nodes.size());
    for (const std::int32_t n : node_)
      used[std::size_t(n)] = true;
    file.unused_points = std::count(used.begin(), used.end(), false);
  }

  /// Format 2.2 has an element again for each further group that it is in.
  void merge_copies() {
    const auto is_volume = [](const auto& entry) { return entry.first.first == 3; };
    if (std::count_if(groups_.begin(), groups_.end(), is_volume) < 2)
      return;
    std::vector<std::int32_t> order(position_.size()), merged(position_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto per_elem = std::ptrdiff_t(type_->num_nodes);
    const auto nodes_of = [&](std::int32_t elem) { return node_.begin() + per_elem * elem; };
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return std::lexicographical_compare(nodes_of(a), nodes_of(a) + per_elem, nodes_of(b),
                                          nodes_of(b) + per_elem);
    });
    // merged: first the copy that comes first, then its place among those.
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool is_copy = i > 0 && std::equal(nodes_of(order[i]), nodes_of(order[i]) + per_elem,
                                               nodes_of(order[i - 1]));
      merged[std::size_t(order[i])] = is_copy ? merged[std::size_t(order[i - 1])] : order[i];
    }
    std::size_t count = 0;
    for (std::size_t elem = 0; elem < merged.size(); ++elem) {
      const auto first = std::size_t(merged[elem]);
      if (first != elem) {
        merged[elem] = merged[first];
        continue;
      }
      std::copy_n(nodes_of(std::int32_t(elem)), per_elem, nodes_of(std::int32_t(count)));
      position_[count] = position_[elem];
      number_[count] = number_[elem];
      merged[elem] = std::int32_t(count++);
    }
    node_.resize(type_->num_nodes * count);
    position_.resize(count);
    for (auto& entry : groups_)
      if (is_volume(entry))
        for (std::int32_t& elem : entry.second)
          elem = merged[std::size_t(elem)];
  }

  bool second_order_;
  const GmshStream* in_ = nullptr;
  const GmshType* type_ = nullptr; ///< of the hexahedra
  HexaParts parts_;
  std::vector<std::int32_t> node_;    ///< [num_elem, type_->num_nodes] places of all their nodes
  std::vector<std::size_t> position_; ///< behind each hexahedron in the file
  std::vector<std::int64_t> number_;  ///< as Gmsh has them
  Groups groups_;
  std::map<std::int64_t, std::vector<FaceCorners>> faces_; ///< of groups of surfaces, by number
  std::map<std::int64_t, std::vector<EdgeEnds>> edges_;    ///< of groups of curves
};

} // namespace

HexaFile read_gmsh_hexa(const std::string& path, double unit) {
  GmshHexa out(path, unit, false);
  read_gmsh_file(path, out);
  return std::move(out.file);
}

HexaFile read_gmsh_curved_hexa(const std::string& path, double unit,
                               std::shared_ptr<const HexaMap>& map) {
  GmshHexa out(path, unit, true);
  read_gmsh_file(path, out);
  map = std::move(out.map);
  return std::move(out.file);
}

} // namespace ossatura
