// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/input/doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>
#include <ossatura/core/mesh/mechanics/folded_mesh.hpp>
#include <ossatura/solvers/eikonal/missing_directions.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>

namespace ossatura {

namespace {

/// Velocities of a heart, and of most tissue grown in a laboratory (m/s), lie in this range.
constexpr double least_velocity = 0.01, greatest_velocity = 10;
/// The longest side of a heart, or of a piece of one (mm), lies in this range.
constexpr double least_extent = 1, greatest_extent = 1000;

void warn_of_size(const TetraMesh& mesh, const std::string& source) {
  const Box box = bounding_box(mesh.point);
  const double extent = std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
  if (extent < least_extent || extent > greatest_extent)
    log_warning(
        "odd-size", source, ": the mesh is ", format_number(extent, 4),
        " mm long, and times grow with lengths: --unit is the length in mm of one unit of the "
        "file, 0.001 for um, 1 for mm, 1000 for m");
}

/// Of the velocities of tags, or of tetrahedra, that conduct: how many are odd, and the first.
struct OddVelocities {
  std::int64_t count = 0;
  std::string name;
  ConductionVelocity first{};
};

template<class IsOdd>
OddVelocities find_velocities(const MeshVelocities& velocities, const IsOdd& is_odd) {
  OddVelocities found;
  const auto look = [&](const ConductionVelocity& velocity, const char* what, std::int64_t number) {
    if (!velocity.conducts() || !is_odd(velocity))
      return;
    if (found.count++ == 0) {
      found.name = what + std::to_string(number);
      found.first = velocity;
    }
  };
  for (const auto& [tag, velocity] : velocities.by_tag)
    look(velocity, "tag ", tag);
  for (std::size_t e = 0; e < velocities.by_tetra.size(); ++e)
    look(velocities.by_tetra[e], "tetrahedron ", std::int64_t(e));
  return found;
}

/// "2 of 3 tags"
std::string share_of(const OddVelocities& found, const MeshVelocities& velocities) {
  const bool by_tag = velocities.by_tetra.empty();
  const std::size_t count = by_tag ? velocities.by_tag.size() : velocities.by_tetra.size();
  return format_count(found.count) + " of " + format_count(std::int64_t(count)) +
         (by_tag ? " tags" : " tetrahedra");
}

bool is_unusual(double velocity) {
  return velocity < least_velocity || velocity > greatest_velocity;
}

void warn_of_velocities(const MeshVelocities& velocities) {
  const OddVelocities unusual = find_velocities(velocities, [](const ConductionVelocity& v) {
    return is_unusual(v.fibre) || is_unusual(v.sheet) || is_unusual(v.normal);
  });
  if (unusual.count > 0) {
    const auto& [fibre, sheet, normal] = unusual.first;
    const double value = is_unusual(fibre) ? fibre : is_unusual(sheet) ? sheet : normal;
    log_warning("odd-velocity", velocities.origin, ": velocities of ",
                share_of(unusual, velocities), " are outside 0.01 to 10 m/s (", unusual.name,
                " has ", format_number(value), " m/s): they are in m/s = mm/ms, not mm/s");
  }
  const OddVelocities swapped = find_velocities(velocities, [](const ConductionVelocity& v) {
    return v.fibre < std::max(v.sheet, v.normal);
  });
  if (swapped.count > 0)
    log_warning("odd-velocity", velocities.origin, ": velocities of ",
                share_of(swapped, velocities), " are less along fibres than across (", swapped.name,
                " has ", format_number(swapped.first.fibre), " m/s along and ",
                format_number(std::max(swapped.first.sheet, swapped.first.normal)),
                " across): the one along fibres comes first");
}

/// `tags`: velocities that were given by tag.
void warn_of_directions(const TetraMesh& mesh, const MeshVelocities& velocities,
                        const TissueVelocities& tags, const std::string& source) {
  const auto missing = TissueDirections(mesh).find_missing(velocities, tags);
  if (!missing)
    return;
  using Kind = MissingDirections::Kind;
  log_warning("missing-directions", source, ": ", missing->text,
              missing->kind == Kind::fibres
                  ? "; fibres are those of NAME.lon, --fibre-file or --fibre-field"
              : missing->kind == Kind::fibres_of_tag ? "; give its fibres, or \"vl\" alone"
              : missing->kind == Kind::some_of_tag
                  ? "; give them theirs, or a tag with \"vl\" alone where that is meant"
                  : "");
}

} // namespace

void warn_of_mesh(const TetraMesh& mesh, const MeshVelocities& velocities,
                  const TissueVelocities& tags, const std::string& source) {
  warn_of_size(mesh, source);
  warn_of_velocities(velocities);
  warn_of_directions(mesh, velocities, tags, source);
}

void warn_of_split_mesh(const TetraMesh& mesh, const MeshVelocities& velocities,
                        const std::string& source) {
  const std::string doubt = describe_split_tissue(find_coincident_nodes(mesh, velocities.blocked));
  if (!doubt.empty())
    log_warning("split-mesh", source, ": ", doubt);
}

void warn_of_folds(const TetraMesh& mesh, const MeshVelocities& velocities,
                   const std::string& source) {
  const std::string doubt = describe_folded_tissue(find_folds(mesh, velocities.blocked));
  if (!doubt.empty())
    log_warning("folded-mesh", source, ": ", doubt);
}

void warn_of_scars(const std::string& file, const TetraMesh& mesh,
                   const MeshVelocities& velocities) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension != ".hdf" && extension != ".vtkhdf")
    return;
  const Hdf5Group grid = Hdf5File::open(file).root().group("VTKHDF");
  if (!grid.has("CellData") || !grid.group("CellData").has("conducts"))
    return;
  const Hdf5Dataset field = grid.group("CellData").dataset("conducts");
  if (field.kind() != Hdf5Dataset::Kind::integer || field.size() != mesh.num_tetra())
    return;
  const std::vector<std::int32_t> conducts = field.read<std::int32_t>();
  std::set<int> scars, others; // tags
  std::int64_t count = 0;
  for (std::size_t e = 0; e < conducts.size(); ++e) {
    (conducts[e] == 0 ? scars : others).insert(mesh.tag[e]);
    count += conducts[e] == 0 && (velocities.blocked.empty() || !velocities.blocked[e]);
  }
  if (count == 0)
    return;
  const bool by_tag =
      std::none_of(scars.begin(), scars.end(), [&](int tag) { return others.count(tag) > 0; });
  std::string remedy = "give --non-conducting ";
  for (const int tag : scars)
    remedy += (tag == *scars.begin() ? "" : ",") + std::to_string(tag);
  log_warning("scars-conduct", file, ": ", format_count(count),
              count == 1 ? " tetrahedron" : " tetrahedra",
              " did not conduct where the file was written (its field 'conducts'), and "
              "conduct here: ",
              by_tag ? remedy : "give the velocities of that run", ", unless that is meant");
}

} // namespace ossatura
