// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/missing_directions.hpp>

namespace ossatura {

namespace {

bool has_fibre(const TetraMesh& mesh, std::size_t e) {
  return !mesh.fibre.empty() &&
         (mesh.fibre[3 * e] != 0 || mesh.fibre[3 * e + 1] != 0 || mesh.fibre[3 * e + 2] != 0);
}

/// What is along the fibre is no sheet.
bool has_sheet(const TetraMesh& mesh, std::size_t e) {
  if (mesh.sheet.empty())
    return false;
  double fibre = 0, sheet = 0, both = 0;
  for (std::size_t d = 3 * e; d < 3 * e + 3; ++d) {
    const double f = mesh.fibre.empty() ? 0 : mesh.fibre[d], s = mesh.sheet[d];
    fibre += f * f;
    sheet += s * s;
    both += f * s;
  }
  constexpr double least = 1e-11; // squared sine: of rounding in single precision, and in text
  return sheet > 0 && !(fibre > 0 && fibre * sheet - both * both < least * fibre * sheet);
}

bool differs_by_fibre(const ConductionVelocity& v) {
  return v.fibre != v.sheet || v.fibre != v.normal;
}

} // namespace

TissueDirections::TissueDirections(const TetraMesh& mesh)
    : has_fibres_(!mesh.fibre.empty())
    , has_sheets_(!mesh.sheet.empty())
    , tag_(mesh.tag)
    , has_(mesh.num_tetra()) {
  std::uint8_t* by_tag = nullptr; // tags come in runs
  for (std::size_t e = 0; e < has_.size(); ++e) {
    has_[e] = std::uint8_t((has_fibre(mesh, e) ? fibre : 0) | (has_sheet(mesh, e) ? sheet : 0));
    any_ = std::uint8_t(any_ | has_[e]);
    if (e == 0 || tag_[e] != tag_[e - 1])
      by_tag = &has_by_tag_[tag_[e]];
    *by_tag = std::uint8_t(*by_tag | has_[e]);
  }
}

/// Whether no tetrahedron that conducts and whose velocities `differ` has the direction.
template<class Differ>
bool TissueDirections::all_lack(std::uint8_t direction, const MeshVelocities& velocities,
                                const Differ& differ) const {
  bool any = false;
  for (std::size_t e = 0; e < has_.size(); ++e) {
    const ConductionVelocity& velocity = velocities.of(e, tag_[e]);
    if (!velocity.conducts() || !differ(velocity))
      continue;
    any = true;
    if ((has_[e] & direction) != 0)
      return false;
  }
  return any;
}

/// Of the tags of `own` that occur and whose velocities differ the first without a fibre.
std::optional<int> TissueDirections::find_bare_tag(const MeshVelocities& velocities,
                                                   const TissueVelocities& own) const {
  for (const auto& [tag, has] : has_by_tag_) {
    const auto v = velocities.by_tag.find(tag);
    if ((has & fibre) == 0 && own.count(tag) > 0 && v != velocities.by_tag.end() &&
        v->second.conducts() && differs_by_fibre(v->second))
      return tag;
  }
  return {};
}

std::optional<MissingDirections> TissueDirections::find_missing(const MeshVelocities& velocities,
                                                                const TissueVelocities& own) const {
  using Kind = MissingDirections::Kind;
  if (all_lack(fibre, velocities, differs_by_fibre))
    return MissingDirections{Kind::fibres,
                             std::string("velocities differ by direction, but ") +
                                 (has_fibres_ ? "all fibres are zero" : "the mesh has no fibres") +
                                 ": waves go at the first velocity in all directions"};
  if (const auto tag = find_bare_tag(velocities, own))
    return MissingDirections{Kind::fibres_of_tag,
                             "velocities of tag " + std::to_string(*tag) +
                                 " differ by direction, but none of its tetrahedra has a fibre: "
                                 "waves go at the first velocity there in all directions"};
  if (all_lack(sheet, velocities, [](const ConductionVelocity& v) { return v.sheet != v.normal; }))
    return MissingDirections{
        Kind::sheets,
        std::string("velocities along and normal to sheets differ, but ") +
            (has_sheets_ ? "all sheets are zero or along fibres" : "the mesh has no sheets") +
            ": waves go at the second velocity all around the fibre, and the third has no effect"};
  return {};
}

} // namespace ossatura
