// SPDX-License-Identifier: Apache-2.0
// A mechanical test of bone prescribes displacements on a specimen between two plates, or on its
// sides.
//
// [1] vtkbone, class vtkboneApplySymmetricShearTest: the test symshear of FAIM's n88modelgenerator.
#pragma once

#include <ossatura/kernels/bone/loads/load_case.hpp>
#include <ossatura/kernels/bone/loads/node_sets.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace ossatura {

/// How many whole layers of voxels a depth has; edges may be rounded to single precision, as in
/// NIfTI.
inline double layers_within(double depth, double edge) {
  return std::floor(depth / edge * (1 + 1e-6));
}

enum class TestKind {
  axial,    ///< plates approach along the axis
  confined, ///< axial between smooth plates in a smooth-walled box
  shear,    ///< the upper plate moves along `direction`
  torsion,  ///< the upper plate turns about the axis
  bending,  ///< the plates tilt against each other about `direction`
  /// The four sides beside the axis move as a pure shear in their plane says, without a rotation;
  /// there are no plates.
  symmetric_shear
};

/// What a plate touches of its end of the specimen, where that is not its outermost nodes.
struct PlateContact {
  /// The nodes that are seen along the axis from outside, of faces within `depth` of the outermost.
  bool visible = false;
  double depth = 0; ///< mm
  /// The nodes that these voxels (packed sites), of bone or beside it, touch; if they are to be
  /// visible, too, those of them that are.
  std::optional<std::vector<std::uint64_t>> voxels;

  bool is_given() const { return visible || voxels; }
};

/// The node sets of the two plates.
constexpr std::uint8_t lower_plate_set = 1, upper_plate_set = 2;

struct MechanicalTest {
  TestKind kind = TestKind::axial;
  int axis = 2;      ///< normal of the plates: 0 = x, 1 = y, 2 = z
  int direction = 0; ///< of the shear displacement, or axis of the bending moment
  /// Axial, confined, shear: displacement over height; symmetric shear: gamma, of engineers.
  double strain = -0.01;
  std::optional<double> displacement; ///< in mm, instead of `strain`
  double angle = 0.01;                ///< torsion, bending: between the plates, in radian
  /// Axial: smooth plates; shear, torsion: upper plate floats axially; symmetric shear: sides do.
  bool lateral_free = false;
  double plate_depth = 0; ///< in mm: nodes this far inside an end plane are held too (embedding)
  PlateContact lower_contact, upper_contact; ///< instead of what plate_depth says
  /// Torsion, bending: what the plates turn about goes through this point, in mm from the lower
  /// corner of the image; else through the centre of the specimen's box.
  std::optional<std::array<double, 3>> centre;
};

/// A part of a load case with a name for reports: the plates are "lower plate" and "upper plate",
/// the walls of a confined test "-x wall" and so on, single nodes against rigid motion "pin".
struct NamedRegion {
  std::string name;
  PrescribedRegion region;
  int normal = -1;       ///< of a plate or wall: 0 = x, 1 = y, 2 = z; -1: none
  bool is_plate = false; ///< one of the two that load the specimen
};

namespace detail {

inline PrescribedRegion plate(const NodeBox& box, double edge, const MechanicalTest& test,
                              bool upper) {
  PrescribedRegion plate;
  const PlateContact& contact = upper ? test.upper_contact : test.lower_contact;
  const int a = test.axis, all = box.upper[a] - box.lower[a];
  const double depth = contact.visible  ? contact.depth
                       : contact.voxels ? edge * all
                                        : test.plate_depth;
  const int layers = int(std::min(layers_within(depth, edge), double(all)));
  if (contact.is_given())
    plate.sets = upper ? upper_plate_set : lower_plate_set;
  for (int d = 0; d < 3; ++d) {
    plate.lower[d] = box.lower[d];
    plate.upper[d] = box.upper[d];
    plate.centre[d] =
        test.centre ? (*test.centre)[std::size_t(d)] : 0.5 * edge * (box.lower[d] + box.upper[d]);
  }
  if (upper)
    plate.lower[a] = box.upper[a] - layers;
  else
    plate.upper[a] = box.lower[a] + layers;
  plate.centre[a] = edge * (upper ? box.upper[a] : box.lower[a]);
  return plate;
}

/// gradient = the linear rotation by `angle` about `axis`: u = angle e_axis x (x - centre).
inline void rotate(PrescribedRegion& region, int axis, double angle) {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  region.gradient[c][b] += angle;
  region.gradient[b][c] -= angle;
}

/// Holds one in-plane component of one node.
inline NamedRegion pin(const Site& site, int component) {
  NamedRegion pin{"pin", {}, -1};
  const int at[3] = {site.x, site.y, site.z};
  for (int d = 0; d < 3; ++d)
    pin.region.lower[d] = pin.region.upper[d] = at[d];
  pin.region.components = std::uint8_t(1 << component);
  return pin;
}

/// Three components of two nodes of a smooth plate that stop its in-plane rigid motions.
template<class Exec>
void add_pins(const Exec& exec, const VoxelGrid<Exec>& grid, const PrescribedRegion& plate,
              int axis, const Communicator& comm, const NodeSets<Exec>& sets,
              std::vector<NamedRegion>& regions) {
  for (int turn = 1; turn <= 2; ++turn) {
    const int along = (axis + turn) % 3, across = 3 - axis - along;
    const Site low = find_extreme_site(exec, grid, plate, along, false, comm, sets).value();
    const Site high = find_extreme_site(exec, grid, plate, along, true, comm, sets).value();
    const int low_at[3] = {low.x, low.y, low.z}, high_at[3] = {high.x, high.y, high.z};
    if (low_at[along] == high_at[along])
      continue;
    regions.push_back(pin(low, along));
    regions.push_back(pin(low, across));
    regions.push_back(pin(high, across));
    return;
  }
}

/// One of the six sides of the specimen's box, -x, +x, -y and so on.
inline NamedRegion side_of(const NodeBox& box, int side, const char* noun) {
  NamedRegion found{std::string(side % 2 ? "+" : "-") + "xyz"[side / 2] + " " + noun, {}, side / 2};
  PrescribedRegion& region = found.region;
  for (int k = 0; k < 3; ++k) {
    region.lower[k] = box.lower[k];
    region.upper[k] = box.upper[k];
  }
  const int d = side / 2;
  (side % 2 ? region.lower[d] : region.upper[d]) = side % 2 ? box.upper[d] : box.lower[d];
  return found;
}

/// The displacement u_b = gamma / 2 x_c, u_c = gamma / 2 x_b from the lower corner of the box, on
/// the four sides that b and c are normal to; they and both ends hold what is along the axis [1].
inline std::vector<NamedRegion> symmetric_shear(const NodeBox& box, double edge,
                                                const MechanicalTest& test) {
  const int a = test.axis, b = (a + 1) % 3, c = (a + 2) % 3;
  std::vector<NamedRegion> regions;
  for (const int side : {2 * a, 2 * a + 1}) {
    regions.push_back(side_of(box, side, "end"));
    regions.back().region.components = std::uint8_t(1 << a);
  }
  for (const int side : {2 * b, 2 * b + 1, 2 * c, 2 * c + 1}) {
    regions.push_back(side_of(box, side, "face"));
    regions.back().is_plate = true;
    PrescribedRegion& face = regions.back().region;
    face.gradient[b][c] = face.gradient[c][b] = test.strain / 2;
    for (int k = 0; k < 3; ++k)
      face.centre[k] = edge * box.lower[k];
    if (test.lateral_free)
      face.components = std::uint8_t(7 & ~(1 << a));
  }
  return regions;
}

} // namespace detail

/// The node sets of the plates of a test that touch the visible surface or the voxels of a label;
/// empty where they touch their ends. `solid` [num_nodes] is greater than 0 at the lowest corners
/// of solid voxels. Of a cut model all ranks of `comm` call it. Fences.
template<class Exec>
NodeSets<Exec> find_plate_nodes(const Exec& exec, const VoxelGrid<Exec>& grid,
                                const Array<float, Exec>& solid, double edge,
                                const MechanicalTest& test, const Communicator& comm = {}) {
  if (!test.lower_contact.is_given() && !test.upper_contact.is_given())
    return {};
  const auto sets = make_zeros<std::uint8_t>(exec, grid.num_nodes, "ossatura::plate_nodes");
  const NodeBox box = bounding_box(exec, grid, comm);
  ColumnEnds<Exec> ends;
  if (test.lower_contact.visible || test.upper_contact.visible)
    ends = find_column_ends(exec, grid, solid, test.axis, comm);
  for (const bool upper : {false, true}) {
    const PlateContact& contact = upper ? test.upper_contact : test.lower_contact;
    const PrescribedRegion plate = detail::plate(box, edge, test, upper);
    if (contact.visible)
      mark_visible(exec, grid, ends, upper, plate.lower[test.axis], plate.upper[test.axis],
                   plate.sets, sets);
    if (contact.voxels)
      mark_touched(exec, count_touching(exec, grid, *contact.voxels), plate.sets, contact.visible,
                   sets);
  }
  fence(exec, "ossatura::find_plate_nodes");
  return sets;
}

/// The regions of a test on the specimen of `grid`, whose voxels have the given edge in mm, with
/// all ranks of `comm` (load_case.hpp). `sets`: those of find_plate_nodes. Throws UsageError if the
/// plates' depths overlap. Fences.
template<class Exec>
std::vector<NamedRegion> make_load_case(const Exec& exec, const VoxelGrid<Exec>& grid, double edge,
                                        const MechanicalTest& test, const Communicator& comm = {},
                                        const NodeSets<Exec>& sets = {}) {
  const NodeBox box = bounding_box(exec, grid, comm);
  if (test.kind == TestKind::symmetric_shear)
    return detail::symmetric_shear(box, edge, test);
  const int a = test.axis;
  const double height = edge * (box.upper[a] - box.lower[a]);
  if (!(test.plate_depth >= 0) || 2 * test.plate_depth >= height)
    fail<UsageError>("plates ", test.plate_depth, " mm deep meet in a specimen ", height,
                     " mm high: make them thinner");
  const double displacement = test.displacement.value_or(test.strain * height);
  PrescribedRegion lower = detail::plate(box, edge, test, false);
  PrescribedRegion upper = detail::plate(box, edge, test, true);
  const std::uint8_t axial_only = std::uint8_t(1 << a), in_plane = std::uint8_t(7 & ~(1 << a));

  std::vector<NamedRegion> regions;
  switch (test.kind) {
  case TestKind::axial:
  case TestKind::confined:
    upper.value[a] = displacement;
    if (test.kind == TestKind::confined || test.lateral_free)
      lower.components = upper.components = axial_only;
    break;
  case TestKind::shear:
    OSSATURA_REQUIRE(test.direction != a, "shear along the plates' normal");
    upper.value[test.direction] = displacement;
    if (test.lateral_free)
      upper.components = in_plane;
    break;
  case TestKind::torsion:
    detail::rotate(upper, a, test.angle);
    if (test.lateral_free)
      upper.components = in_plane;
    break;
  case TestKind::bending:
    OSSATURA_REQUIRE(test.direction != a, "bending about the plates' normal");
    detail::rotate(upper, test.direction, test.angle / 2);
    detail::rotate(lower, test.direction, -test.angle / 2);
    if (test.lateral_free)
      lower.components = upper.components = axial_only;
    break;
  case TestKind::symmetric_shear: // above
    break;
  }
  regions.push_back({"lower plate", lower, a, true});
  regions.push_back({"upper plate", upper, a, true});
  if (test.kind == TestKind::confined) {
    for (int side = 0; side < 6; ++side) {
      const int d = side / 2;
      if (d == a)
        continue;
      regions.push_back(detail::side_of(box, side, "wall"));
      regions.back().region.components = std::uint8_t(1 << d);
    }
  } else if (lower.components == axial_only) {
    detail::add_pins(exec, grid, lower, a, comm, sets, regions);
  }
  return regions;
}

/// Kinematic uniform boundary conditions: u = eps x on the six faces of the specimen's box, for the
/// macroscopic strain (xx, yy, zz, gamma xy, yz, zx). Fences.
template<class Exec>
std::vector<NamedRegion> make_uniform_strain_case(const Exec& exec, const VoxelGrid<Exec>& grid,
                                                  const double (&strain)[6],
                                                  const Communicator& comm = {}) {
  const NodeBox box = bounding_box(exec, grid, comm);
  std::vector<NamedRegion> regions;
  for (int side = 0; side < 6; ++side) {
    regions.push_back(detail::side_of(box, side, "face"));
    PrescribedRegion& face = regions.back().region;
    for (int k = 0; k < 3; ++k) {
      face.gradient[k][k] = strain[k];
      const int next = (k + 1) % 3;
      face.gradient[k][next] = face.gradient[next][k] = strain[3 + k] / 2;
    }
  }
  return regions;
}

} // namespace ossatura
