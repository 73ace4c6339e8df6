// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/support_checks.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/solvers/bone/islands.hpp>
#include <ossatura/solvers/bone/support_checks.hpp>

#include <sstream>
#include <string>

namespace ossatura {

namespace {

void require_load_path(const SupportFindings& found, std::int64_t num_voxels) {
  if (found.num_carrying == 0 && !found.is_loaded)
    fail<InputError>("nothing loads the specimen: all prescribed displacements are 0 and no force "
                     "acts on a free node; give --force, a displacement or a --test");
  if (found.num_carrying == 0 && found.num_parts == 1)
    fail<InputError>("supports move the specimen as one rigid body, and nothing strains it: let "
                     "plates or --fix hold less of it (--plate-labels, --plate-depth), or at "
                     "displacements that differ");
  if (found.num_carrying == 0)
    fail<InputError>(
        "no path of bone leads from the supports that move to those that rest: the specimen is in ",
        format_count(found.num_parts),
        " parts, and each moves as a rigid body; look at the image and its thresholds (--lower), "
        "keep "
        "the largest part with --largest-component, or let plates reach further with "
        "--plate-depth");
  if (double(found.num_carrying) < least_carrying * double(num_voxels))
    log_warning("unloaded-parts", format_count(num_voxels - found.num_carrying), " of ",
                format_count(num_voxels),
                " voxels are in parts that touch one support only, or none that moves: they carry "
                "nothing");
}

void refuse_free_motion(const FreePart& part, std::int64_t num_parts) {
  std::ostringstream what;
  if (num_parts == 1)
    what << "the specimen";
  else
    what << "of the " << format_count(num_parts) << " parts of the specimen the one with voxel "
         << part.voxel[0] << ", " << part.voxel[1] << ", " << part.voxel[2] << " ("
         << format_count(part.num_voxels) << " voxels)";
  fail<InputError>(what.str(), " can move freely (", part.motions, "): supports hold ",
                   part.num_held,
                   " of its 6 rigid motions; hold more components with --fix, such as "
                   "z-:xyz, or keep one part with --largest-component");
}

/// Returns the number of its bodies, of which none is an island.
template<class Exec>
std::int64_t check_unit_cell(const Exec& exec, const VoxelProblem<Exec>& problem) {
  const PeriodicBodies bodies = find_periodic_bodies(exec, problem).second;
  if (const std::string axes = bodies.open_axes(); !axes.empty())
    log_warning("open-cell", "no bone leads from cell to cell along ", axes,
                ": the stiffness there is 0; void at the sides belongs to the cell, unless --crop "
                "takes it off");
  return std::int64_t(bodies.list.size());
}

/// Of a box that ends at other parts than the specimen.
void warn_of_box(const PartShares& parts) {
  if (!parts.fills_box())
    log_warning("bone-in-parts", format_count(parts.beyond), " of ", format_count(parts.num_voxels),
                " voxels are in parts that lie beyond the largest, and share no node with it: the "
                "box of the test ends at them, and is larger than the specimen; look at --lower, "
                "or keep the largest with --largest-component");
}

/// All sides are held, and strain each part that touches them, as if the parts were joined. Returns
/// the number of parts.
template<class Exec>
std::int64_t check_held_sides(const Exec& exec, const VoxelProblem<Exec>& problem) {
  const PartShares parts = find_part_shares(exec, problem);
  if (!parts.is_in_one())
    log_warning("bone-in-parts", "the bone is in ", format_count(parts.num_parts),
                " parts that share no node, the largest of ",
                format_number(100 * double(parts.largest) / double(parts.num_voxels), 3),
                " %: kinematic sides strain each part as if it were joined to the others, and the "
                "stiffness is too large; look at --lower, or keep one with --largest-component");
  else
    warn_of_box(parts);
  return parts.num_parts;
}

void warn_of(const SmallContact& contact, const BoneOptions& options) {
  const SupportReaction& support = contact.support;
  log_warning("small-contact", support.name, ": touches ", format_number(support.contact_area, 4),
              " mm2 of bone (", format_count(support.num_nodes), " nodes), ",
              format_number(100 * support.contact_area / contact.cross_section, 3),
              " % of the specimen's mean cross-section of ",
              format_number(contact.cross_section, 4),
              " mm2: the result is that of the spots where it touches; ",
              options.test == LoadTest::symmetric_shear ? "choose a box that the bone fills more of"
              : options.plate_depth > 0                 ? "raise --plate-depth"
              : options.anatomy.depth.lower || options.anatomy.depth.upper ? "raise --surface-depth"
              : options.anatomy.has_caps()
                  ? "--surface-depth MM lets caps reach further"
                  : "--surface visible and --plate-depth MM let plates reach further",
              ", or crop the image to flat ends");
}

} // namespace

template<class Exec>
std::int64_t check_supports(const Exec& exec, const BoneOptions& options,
                            const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load) {
  const TimedScope scope("ossatura::bone::check_supports");
  if (is_periodic(options))
    return check_unit_cell(exec, problem);
  if (options.test == LoadTest::homogenise)
    return check_held_sides(exec, problem);
  if (has_sides_for_supports(options))
    warn_of_box(find_part_shares(exec, problem));
  const SupportFindings found = examine_supports(exec, problem, load);
  require_load_path(found, count_voxels(exec, problem));
  if (found.free)
    refuse_free_motion(*found.free, found.num_parts);
  if (found.are_plates_exchanged)
    fail<InputError>(options.input, ": the upper plate lies below the lower one along ",
                     "xyz"[options.axis],
                     ", which grows with the planes of the image, up or down in the body: exchange "
                     "the labels of --plate-labels");
  for (const SmallContact& contact : found.small_contacts)
    warn_of(contact, options);
  return found.num_parts;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::int64_t check_supports(const Exec&, const BoneOptions&, const VoxelProblem<Exec>&, \
                                       const BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
