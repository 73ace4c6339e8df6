// SPDX-License-Identifier: Apache-2.0
// The reader makes a tetrahedral mesh of the heart from a Gmsh file.
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/gmsh/stream.hpp>
#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ossatura {
namespace {

class GmshTetra : public GmshMesh {
public:
  using GmshMesh::GmshMesh;
  TetraMesh mesh;

  void accept(const GmshStream& in, const GmshType& type) override {
    if (type.dimension == 3 && type.number != gmsh_tetra)
      in.bad("type ", type.number, ", ", type.name,
             ": of volume elements, only tetrahedra of first order are solved; mesh with these "
             "(-order 1, no recombination)");
  }

  void add(const GmshStream& in, const GmshType& type, const std::int64_t* node,
           std::int64_t tissue) override {
    if (type.number != gmsh_tetra) {
      passed_over_.resize(nodes.size());
      for (std::size_t k = 0; k < type.num_nodes; ++k)
        passed_over_[std::size_t(node[k])] = true;
      return;
    }
    for (int k = 0; k < 4; ++k)
      mesh.tetra.push_back(std::int32_t(node[k]));
    if (!is_tetra(node, std::int64_t(nodes.size())))
      in.bad("tetrahedron ", mesh.num_tetra() - 1, " has nodes ", tag(node[0]), ", ", tag(node[1]),
             ", ", tag(node[2]), ", ", tag(node[3]),
             ", not four different ones: mesh again without such elements");
    if (tissue < std::numeric_limits<std::int32_t>::min() ||
        tissue > std::numeric_limits<std::int32_t>::max())
      in.bad("the tag ", tissue, " has more than 32 bits");
    mesh.tag.push_back(std::int32_t(tissue));
    const bool is_grouped = !group.empty() && group[0] != 0;
    if (const std::pair tagged(tissue, is_grouped); last_ != tagged) {
      is_grouped ? (void)grouped_.insert(tissue) : (void)alone_.emplace(tissue, number);
      last_ = tagged;
    }
  }

  void finish(GmshStream& in) override {
    require_own_numbers(in.text.path());
    mesh.point = std::move(point);
    finish_tetra_mesh(in.text.path(), mesh, passed_over_, [&](std::size_t node) {
      return in.text.path() + ": node " + std::to_string(nodes.tag(node));
    });
  }

private:
  std::uint64_t tag(std::int64_t node) const { return nodes.tag(std::size_t(node)); }

  /// Refuses entities in no group whose number is that of a group.
  void require_own_numbers(const std::string& path) const {
    for (const auto& [entity, first] : alone_) {
      const auto name = group_name.find({3, entity});
      if (name == group_name.end() && grouped_.count(entity) == 0)
        continue;
      const std::string called = name == group_name.end() ? "" : " (\"" + name->second + "\")";
      fail<InputError>(path, ": element ", first,
                       " is in no physical group, and its entity has the number ", entity,
                       " of a group", called, ", so that tag ", entity,
                       " would mean both: put all volumes into physical groups, or save those in "
                       "groups alone (Mesh.SaveAll=0)");
    }
  }

  std::optional<std::pair<std::int64_t, bool>> last_; ///< tag, and whether it is a group
  std::set<std::int64_t> grouped_;                    ///< tags that are physical groups
  std::map<std::int64_t, std::int64_t> alone_;        ///< first element by tags that are entities
  std::vector<bool> passed_over_; ///< points of elements of lower dimension; empty: none
};

} // namespace

TetraMesh read_gmsh(const std::string& path, double unit) {
  GmshTetra out(unit);
  read_gmsh_file(path, out);
  return std::move(out.mesh);
}

} // namespace ossatura
