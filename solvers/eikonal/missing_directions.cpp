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

bool differs_by_sheet(const ConductionVelocity& v) {
  return v.sheet != v.normal;
}

/// The tetrahedra of a tag that need a direction.
struct Share {
  int tag = 0;
  std::int64_t count = 0, lacking = 0;
  std::size_t first = 0; ///< that lacks it
};

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
    all_ = std::uint8_t(all_ & has_[e]);
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

/// The tag of whose tetrahedra some have the direction and others lack it, which is no choice of
/// the user: "3 of the 5000 tetrahedra of tag 1". Empty: there is none.
template<class Differ>
std::string
TissueDirections::describe_gaps(std::uint8_t direction, const MeshVelocities& velocities,
                                const TissueVelocities& own, const Differ& differ) const {
  constexpr std::int64_t few = 10; // of so many one
  if ((any_ & direction) == 0 || (all_ & direction) != 0)
    return {};
  std::map<int, Share> shares;
  Share* of_tag = nullptr; // tags come in runs
  for (std::size_t e = 0; e < has_.size(); ++e) {
    const ConductionVelocity& velocity = velocities.of(e, tag_[e]);
    const bool is_asked = direction == fibre || (has_[e] & fibre) != 0; // sheets are about fibres
    if (!is_asked || !velocity.conducts() || !differ(velocity))
      continue;
    if (of_tag == nullptr || tag_[e] != of_tag->tag) {
      of_tag = &shares[tag_[e]];
      of_tag->tag = tag_[e];
    }
    ++of_tag->count;
    if ((has_[e] & direction) == 0 && of_tag->lacking++ == 0)
      of_tag->first = e;
  }
  for (const auto& [tag, share] : shares)
    if (share.lacking > 0 && share.lacking < share.count &&
        (own.count(tag) > 0 || few * share.lacking < share.count))
      return std::to_string(share.lacking) + " of the " + std::to_string(share.count) +
             " tetrahedra of tag " + std::to_string(tag) + ", the first " +
             std::to_string(share.first) + ",";
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
  if (const std::string some = describe_gaps(fibre, velocities, own, differs_by_fibre);
      !some.empty())
    return MissingDirections{Kind::some_of_tag,
                             some + " have no fibre, though their velocities differ by direction: "
                                    "waves go at the first velocity there in all directions"};
  if (all_lack(sheet, velocities, differs_by_sheet))
    return MissingDirections{
        Kind::sheets,
        std::string("velocities along and normal to sheets differ, but ") +
            (has_sheets_ ? "all sheets are zero or along fibres" : "the mesh has no sheets") +
            ": waves go at the second velocity all around the fibre, and the third has no effect"};
  if (const std::string some = describe_gaps(sheet, velocities, own, differs_by_sheet);
      !some.empty())
    return MissingDirections{
        Kind::some_of_tag,
        some + " have no sheet, or one along the fibre, though velocities along and normal to "
               "sheets differ: waves go at the second velocity all around the fibre there"};
  return {};
}

} // namespace ossatura
