// SPDX-License-Identifier: BSD-3-Clause
// Models of hexahedra from Gmsh files.
#include "core/io/gmsh.hpp"
#include "core/io/gmsh_stream.hpp"
#include "core/io/hexa_parts.hpp"

#include <algorithm>
#include <numeric>

namespace femura {
namespace {

/// By dimension and number of the group: hexahedra, or nodes of what has no volume.
using Groups = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int32_t>>;

class GmshHexa : public GmshMesh {
public:
  GmshHexa(const std::string& path, double unit)
      : GmshMesh(1) {
    parts_.path = path;
    parts_.unit = unit;
    parts_.node_name = [this](std::size_t place) {
      return "node " + std::to_string(nodes.tag(place));
    };
    parts_.elem_name = [this](std::size_t place) {
      GmshStream there(*in_);
      there.text.seek(position_[place]);
      return there.place() + ": element " + std::to_string(number_[place]);
    };
  }
  HexaFile file;

  void accept(const GmshStream& in, const GmshType& type) override {
    in_ = &in;
    if (type.dimension == 3 && type.number != gmsh_hexa)
      in.bad("type ", type.number, ", ", type.name,
             ": of volume elements, hexahedra of first order are solved; mesh with these alone");
  }

  void add(const GmshStream& in, const GmshType& type, const std::int64_t* node,
           std::int64_t) override {
    const bool is_hexa = type.number == gmsh_hexa;
    for (const std::int64_t of : group) {
      std::vector<std::int32_t>& members = groups_[{type.dimension, of}];
      if (is_hexa)
        members.push_back(std::int32_t(position_.size()));
      else
        members.insert(members.end(), node, node + type.num_nodes);
    }
    if (is_hexa) {
      parts_.node.insert(parts_.node.end(), node, node + 8);
      position_.push_back(in.text.position());
      number_.push_back(number);
    }
  }

  void finish(GmshStream&) override {
    merge_copies();
    for (auto& [key, members] : groups_) {
      const auto named = group_name.find(key);
      const std::string name =
          named == group_name.end() ? std::to_string(key.second) : named->second;
      auto& set = (key.first == 3 ? parts_.elem_sets : parts_.node_sets)[name];
      set.insert(set.end(), members.begin(), members.end());
    }
    parts_.point = std::move(point);
    file = make_hexa_file(std::move(parts_));
  }

private:
  /// Format 2.2 has an element again for each further group that it is in.
  void merge_copies() {
    const auto is_volume = [](const auto& entry) { return entry.first.first == 3; };
    if (std::count_if(groups_.begin(), groups_.end(), is_volume) < 2)
      return;
    std::vector<std::int32_t> order(position_.size()), merged(position_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto nodes_of = [this](std::int32_t elem) {
      return parts_.node.begin() + 8 * std::ptrdiff_t(elem);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return std::lexicographical_compare(nodes_of(a), nodes_of(a) + 8, nodes_of(b),
                                          nodes_of(b) + 8);
    });
    // merged: first the copy that comes first, then its place among those.
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool is_copy =
          i > 0 && std::equal(nodes_of(order[i]), nodes_of(order[i]) + 8, nodes_of(order[i - 1]));
      merged[std::size_t(order[i])] = is_copy ? merged[std::size_t(order[i - 1])] : order[i];
    }
    std::size_t count = 0;
    for (std::size_t elem = 0; elem < merged.size(); ++elem) {
      const auto first = std::size_t(merged[elem]);
      if (first != elem) {
        merged[elem] = merged[first];
        continue;
      }
      std::copy_n(nodes_of(std::int32_t(elem)), 8, nodes_of(std::int32_t(count)));
      position_[count] = position_[elem];
      number_[count] = number_[elem];
      merged[elem] = std::int32_t(count++);
    }
    parts_.node.resize(8 * count);
    position_.resize(count);
    for (auto& entry : groups_)
      if (is_volume(entry))
        for (std::int32_t& elem : entry.second)
          elem = merged[std::size_t(elem)];
  }

  const GmshStream* in_ = nullptr;
  HexaParts parts_;
  std::vector<std::size_t> position_; ///< behind each hexahedron in the file
  std::vector<std::int64_t> number_;  ///< as Gmsh has them
  Groups groups_;
};

} // namespace

HexaFile read_gmsh_hexa(const std::string& path, double unit) {
  GmshHexa out(path, unit);
  read_gmsh_file(path, out);
  return std::move(out.file);
}

} // namespace femura
