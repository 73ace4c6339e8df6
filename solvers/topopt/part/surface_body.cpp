// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/surface_body.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/cube_lattice.hpp>
#include <ossatura/core/mesh/mechanics/lattice_motion.hpp>
#include <ossatura/solvers/topopt/bodies/fill_surface.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace ossatura {

namespace {

using Place = LatticeBody::Place;

/// The lattice of a design, whatever states its body.
struct DesignLattice {
  std::array<std::vector<double>, 3> plane;
  std::function<Place(std::int32_t)> node;
  std::function<std::int32_t(const Place&)> elem; ///< -1: none there
  double edge = 0;
};

DesignLattice lattice_of(const DesignProblem& design) {
  DesignLattice lattice;
  if (design.lattice) {
    OSSATURA_REQUIRE(design.lattice->is_of_cubes(), "the cells of the lattice are no cubes");
    for (int axis = 0; axis < 3; ++axis)
      lattice.plane[std::size_t(axis)] = design.lattice->plane(axis);
    lattice.node = [body = design.lattice](std::int32_t n) { return body->node().place(n); };
    lattice.elem = [body = design.lattice](const Place& cell) {
      return body->elem().has(cell) ? body->elem().number(cell) : -1;
    };
    lattice.edge = design.lattice->edge();
    return lattice;
  }
  OSSATURA_REQUIRE(!design.solids, "the body is of other elements than cubes");
  auto cubes = std::make_shared<CubeLattice>(find_cube_lattice(design.mesh));
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (int i = 0; i <= cubes->shape[axis]; ++i)
      lattice.plane[axis].push_back(cubes->origin[axis] + i * cubes->edge);
  lattice.node = [cubes](std::int32_t n) { return cubes->node[std::size_t(n)]; };
  auto at = std::make_shared<std::map<Place, std::int32_t>>();
  for (std::size_t e = 0; e < cubes->elem.size() && !design.material.empty(); ++e)
    at->emplace(cubes->elem[e], std::int32_t(e));
  lattice.elem = [at](const Place& cell) {
    const auto found = at->find(cell);
    return found == at->end() ? -1 : found->second;
  };
  lattice.edge = cubes->edge;
  return lattice;
}

/// The material of the design's element at a cell; where the surface goes beyond the body, that of
/// the nearest around it, the first of several as near.
std::uint8_t material_at(const DesignProblem& design, const DesignLattice& lattice,
                         const Place& cell) {
  for (int reach = 0; reach <= 1; ++reach) {
    std::int32_t nearest = -1;
    int least = 4;
    for (int z = -reach; z <= reach; ++z)
      for (int y = -reach; y <= reach; ++y)
        for (int x = -reach; x <= reach; ++x) {
          const std::int32_t e = lattice.elem({cell[0] + x, cell[1] + y, cell[2] + z});
          if (const int way = x * x + y * y + z * z; e >= 0 && way < least) {
            nearest = e;
            least = way;
          }
        }
    if (nearest >= 0)
      return design.material[std::size_t(nearest)];
  }
  throw NotReanalysed("the surface has a cube that is two elements or more away from the body, "
                      "which says no material for it");
}

/// Of the cubes of a body whose lower corner is at `low`, `refine` of which are along an edge.
std::vector<std::uint8_t> materials_of(const DesignProblem& design, const DesignLattice& lattice,
                                       const LatticeBody& cubes, const Place& low, int refine) {
  std::vector<std::uint8_t> material;
  for (std::int32_t e = 0; !design.material.empty() && e < cubes.num_elem(); ++e) {
    Place cell = cubes.elem().place(e);
    for (std::size_t axis = 0; axis < 3; ++axis)
      cell[axis] = (cell[axis] + low[axis]) / refine;
    material.push_back(material_at(design, lattice, cell));
  }
  return material;
}

/// Planes with `refine` - 1 more between each two.
std::array<std::vector<double>, 3> refined(const std::array<std::vector<double>, 3>& plane,
                                           int refine) {
  std::array<std::vector<double>, 3> fine;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t i = 0; i + 1 < plane[axis].size(); ++i)
      for (int k = 0; k < refine; ++k)
        fine[axis].push_back(plane[axis][i] +
                             (plane[axis][i + 1] - plane[axis][i]) * (double(k) / refine));
    fine[axis].push_back(plane[axis].back());
  }
  return fine;
}

/// Cells along x that follow each other in a row.
struct CellRun {
  int begin, end, y, z;
};

/// The runs of an image in groups that share faces of cells.
class RunGroups {
public:
  explicit RunGroups(const VoxelImage& image)
      : image_(image)
      , row_begin_{0} {
    const float* value = image.value.data();
    for (int z = 0; z < image.shape[2]; ++z)
      for (int y = 0; y < image.shape[1]; ++y, value += image.shape[0]) {
        for (int x = 0; x < image.shape[0]; ++x)
          if (value[x] > 0) {
            if (x == 0 || !(value[x - 1] > 0))
              run.push_back({x, x, y, z});
            ++run.back().end;
          }
        row_begin_.push_back(run.size());
      }
    root_.resize(run.size());
    std::iota(root_.begin(), root_.end(), std::size_t(0));
    for (std::size_t i = 0; i < run.size(); ++i) {
      join(i, run[i].y - 1, run[i].z);
      join(i, run[i].y, run[i].z - 1);
    }
  }

  std::size_t group(std::size_t i) {
    while (root_[i] != i)
      i = root_[i] = root_[root_[i]];
    return i;
  }

  /// Calls visit(group) for the cells around a node.
  template<class Visit>
  void around(const Place& node, const Visit& visit) {
    for (int side = 0; side < 4; ++side) {
      const int y = node[1] - (side & 1), z = node[2] - (side >> 1);
      for_row(y, z, [&](std::size_t i) {
        if (run[i].begin <= node[0] && run[i].end >= node[0])
          visit(group(i));
      });
    }
  }

  std::vector<CellRun> run;

private:
  template<class Visit>
  void for_row(int y, int z, const Visit& visit) const {
    if (y < 0 || z < 0 || y >= image_.shape[1] || z >= image_.shape[2])
      return;
    const std::size_t row = std::size_t(y) + std::size_t(image_.shape[1]) * std::size_t(z);
    for (std::size_t i = row_begin_[row]; i < row_begin_[row + 1]; ++i)
      visit(i);
  }

  void join(std::size_t own, int y, int z) {
    for_row(y, z, [&](std::size_t i) {
      if (run[i].begin < run[own].end && run[i].end > run[own].begin) {
        const std::size_t a = group(i), b = group(own);
        root_[std::max(a, b)] = std::min(a, b);
      }
    });
  }

  const VoxelImage& image_;
  std::vector<std::size_t> row_begin_, root_;
};

constexpr Place sides[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                            {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};

Place moved(const Place& from, const Place& by, int times = 1) {
  return {from[0] + times * by[0], from[1] + times * by[1], from[2] + times * by[2]};
}

/// Whether `has` is true at all corners from `from` along the axes where `way` is not 0.
template<class Has>
bool all_corners(const Place& from, const Place& way, const Has& has) {
  for (const Place& side : sides)
    if (!has(Place{from[0] + side[0] * way[0], from[1] + side[1] * way[1],
                   from[2] + side[2] * way[2]}))
      return false;
  return true;
}

using HeldPlaces = std::map<Place, std::uint8_t>;

/// Of each edge, face and cube whose corners are held, the nodes inside.
HeldPlaces refine_held(const HeldPlaces& held, int refine) {
  HeldPlaces fine;
  for (const auto& [place, components] : held)
    for (const Place& way : sides) {
      std::uint8_t common = components;
      const bool all = all_corners(place, way, [&](const Place& corner) {
        const auto found = held.find(corner);
        common = std::uint8_t(common & (found == held.end() ? 0 : found->second));
        return common != 0;
      });
      if (!all)
        continue;
      // 1 .. refine - 1 along the axes of the way.
      const auto last = [&](std::size_t axis) { return way[axis] != 0 ? refine - 1 : 0; };
      for (int z = way[2]; z <= last(2); ++z)
        for (int y = way[1]; y <= last(1); ++y)
          for (int x = way[0]; x <= last(0); ++x) {
            std::uint8_t& mask =
                fine[Place{place[0] * refine + x, place[1] * refine + y, place[2] * refine + z}];
            mask = std::uint8_t(mask | common);
          }
    }
  return fine;
}

using Force = std::array<double, 3>;
using PlacedForces = std::map<Place, Force>;

void add_force(PlacedForces& forces, const Place& place, const Force& force, double weight) {
  Force& sum = forces[place];
  for (std::size_t c = 0; c < 3; ++c)
    sum[c] += weight * force[c];
}

/// The places along an axis that a force is shared by, and their parts: those of a tent from the
/// node to the next one, by the trapezoidal rule. In no direction it is the node itself.
std::vector<std::pair<int, double>> tent(int direction, int refine) {
  if (direction == 0)
    return {{0, 1.0}};
  std::vector<std::pair<int, double>> part;
  for (int k = 0; k < refine; ++k) // their sum is refine / 2
    part.push_back({direction * k, (k == 0 ? 1.0 : 2.0 * (refine - k) / refine) / refine});
  return part;
}

/// Spreads each force in the loaded cubes at its node, else in the loaded faces, else in the loaded
/// edges: what loads of uniform density become is of uniform density.
PlacedForces refine_forces(const PlacedForces& forces, int refine) {
  PlacedForces fine;
  const auto loaded = [&](const Place& place) { return forces.count(place) > 0; };
  for (const auto& [place, force] : forces) {
    std::vector<Place> ways; // of the most axes
    int most = 0;
    Place way;
    for (way[2] = -1; way[2] <= 1; ++way[2])
      for (way[1] = -1; way[1] <= 1; ++way[1])
        for (way[0] = -1; way[0] <= 1; ++way[0]) {
          const int axes = std::abs(way[0]) + std::abs(way[1]) + std::abs(way[2]);
          if (axes < most || !all_corners(place, way, loaded))
            continue;
          if (axes > most)
            ways.clear();
          most = axes;
          ways.push_back(way);
        }
    for (const Place& to : ways)
      for (const auto& [z, part_z] : tent(to[2], refine))
        for (const auto& [y, part_y] : tent(to[1], refine))
          for (const auto& [x, part_x] : tent(to[0], refine))
            add_force(fine, {place[0] * refine + x, place[1] * refine + y, place[2] * refine + z},
                      force, part_x * part_y * part_z / double(ways.size()));
  }
  return fine;
}

double size_of(const Force& force) {
  return std::hypot(force[0], force[1], force[2]);
}

/// Moves the forces at places that the body lacks to the nearest that it has; of several as near,
/// the first. False where it has none.
template<class Has>
bool move_forces(const PlacedForces& forces, const Has& has, double edge, PlacedForces& result,
                 MovedForces& moved) {
  std::vector<Place> there;
  Place low, high;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = std::numeric_limits<int>::max();
    high[axis] = std::numeric_limits<int>::min();
  }
  for (const auto& [place, force] : forces)
    if (has(place)) {
      there.push_back(place);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], place[axis]);
        high[axis] = std::max(high[axis], place[axis]);
      }
    }
  if (there.empty())
    return false;
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (high[axis] - low[axis] > high[longest] - low[longest])
      longest = axis;
  std::sort(there.begin(), there.end(), [longest](const Place& a, const Place& b) {
    return std::make_pair(a[longest], a) < std::make_pair(b[longest], b);
  });
  double all = 0, away = 0;
  for (const auto& one : forces) {
    const Place& place = one.first;
    const Force& force = one.second;
    all += size_of(force);
    if (has(place)) {
      add_force(result, place, force, 1);
      continue;
    }
    away += size_of(force);
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    Place to{};
    const auto consider = [&](const Place& other) {
      std::int64_t square = 0;
      for (std::size_t axis = 0; axis < 3; ++axis)
        square += std::int64_t(other[axis] - place[axis]) * (other[axis] - place[axis]);
      if (square < nearest || (square == nearest && other < to)) {
        nearest = square;
        to = other;
      }
    };
    const auto is_far = [&](const Place& other) {
      const std::int64_t along = other[longest] - place[longest];
      return along * along > nearest;
    };
    const auto middle =
        std::lower_bound(there.begin(), there.end(), place[longest],
                         [longest](const Place& a, int at) { return a[longest] < at; });
    for (auto other = middle; other != there.end() && !is_far(*other); ++other)
      consider(*other);
    for (auto other = middle; other != there.begin() && !is_far(*std::prev(other)); --other)
      consider(*std::prev(other));
    add_force(result, to, force, 1);
    moved.distance = std::max(moved.distance, edge * std::sqrt(double(nearest)));
  }
  moved.share = all > 0 ? away / all : 0;
  return true;
}

/// Cuts the lattice to the cells of the runs.
std::shared_ptr<const LatticeBody> make_body(const std::array<std::vector<double>, 3>& plane,
                                             const std::vector<CellRun>& runs, Place& low) {
  Place high{};
  low = {std::numeric_limits<int>::max(), std::numeric_limits<int>::max(),
         std::numeric_limits<int>::max()};
  for (const CellRun& run : runs) {
    const Place first{run.begin, run.y, run.z}, end{run.end, run.y + 1, run.z + 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], first[axis]);
      high[axis] = std::max(high[axis], end[axis]);
    }
  }
  std::array<std::vector<double>, 3> cut;
  for (std::size_t axis = 0; axis < 3; ++axis)
    cut[axis].assign(plane[axis].begin() + low[axis], plane[axis].begin() + high[axis] + 1);
  std::vector<LatticeBody::CellBox> solid;
  for (const CellRun& run : runs)
    solid.push_back({{run.begin - low[0], run.y - low[1], run.z - low[2]},
                     {run.end - low[0], run.y - low[1] + 1, run.z - low[2] + 1}});
  return std::make_shared<const LatticeBody>(std::move(cut), solid);
}

/// Keeps what shares faces with cells at supports, and says what volume that leaves out.
std::vector<CellRun> keep_held_runs(const VoxelImage& image, const std::vector<Place>& supports,
                                    std::int64_t& num_left_out) {
  RunGroups groups(image);
  std::vector<bool> is_held(groups.run.size());
  for (const Place& place : supports)
    groups.around(place, [&](std::size_t group) { is_held[group] = true; });
  std::vector<CellRun> kept;
  for (std::size_t i = 0; i < groups.run.size(); ++i) {
    if (is_held[groups.group(i)])
      kept.push_back(groups.run[i]);
    else
      num_left_out += groups.run[i].end - groups.run[i].begin;
  }
  return kept;
}

/// Of the design's supports by place: all, and those that are more than symmetry.
void list_supports(const DesignProblem& design, const std::vector<std::int32_t>& supported,
                   const DesignLattice& lattice, int refine, HeldPlaces& held,
                   HeldPlaces& supports) {
  HeldPlaces all, some;
  for (const HeldComponents& one : design.held)
    if (one.components != 0) {
      std::uint8_t& mask = all[lattice.node(one.node)];
      mask = std::uint8_t(mask | one.components);
    }
  for (const std::int32_t node : supported)
    some[lattice.node(node)] = 7;
  held = refine_held(all, refine);
  supports = supported.empty() ? held : refine_held(some, refine);
}

/// Refuses what is of the nodes of the design and has no rule for others.
void require_known_loads(const DesignProblem& design) {
  for (const DesignLoadCase& one : design.cases)
    if (!one.loads.displacements.empty() || !one.loads.warming.empty())
      throw NotReanalysed("load case '" + one.loads.name + "' has " +
                          (one.loads.warming.empty() ? "imposed displacements" : "temperatures") +
                          ", which are not carried over to its cubes");
}

} // namespace

SurfaceBody make_surface_body(const DesignProblem& design,
                              const std::vector<std::int32_t>& supported,
                              const TriangleSurface& surface, int refine) {
  OSSATURA_REQUIRE(refine >= 1 && refine <= 8, refine << " cubes along an edge, of 1 to 8");
  OSSATURA_REQUIRE(design.output.empty() && design.springs.empty(),
                   "mechanisms and springs are not known on voxels");
  require_known_loads(design);
  if (!design.rigid.empty())
    throw NotReanalysed("there are rigid bodies, which voxels do not know");
  for (const HexaMaterial& one : design.materials)
    if (one.poisson != design.poisson)
      throw NotReanalysed("materials have several Poisson's ratios, which voxels do not know");
  const DesignLattice lattice = lattice_of(design);
  const auto plane = refined(lattice.plane, refine);
  Place shape;
  for (std::size_t axis = 0; axis < 3; ++axis)
    shape[axis] = int(plane[axis].size()) - 1;
  SurfaceBody body;
  body.edge = lattice.edge / refine;
  const double cube = body.edge * body.edge * body.edge;
  HeldPlaces held, supports;
  list_supports(design, supported, lattice, refine, held, supports);
  std::vector<Place> support_places;
  for (const auto& [place, components] : supports)
    support_places.push_back(place);

  if (surface.triangle.empty())
    throw NotReanalysed("there is no surface");
  const FilledSurface filled = fill_surface(
      surface, body.edge, {plane[0].front(), plane[1].front(), plane[2].front()}, shape);
  std::int64_t num_left_out = 0;
  const std::vector<CellRun> runs = keep_held_runs(filled.image, support_places, num_left_out);
  body.left_out = double(num_left_out) * cube;
  if (runs.empty())
    throw NotReanalysed(num_left_out > 0 ? "no support touches the surface any more: keep layers "
                                           "around supports, or a lower level of the surface"
                                         : "no cube has its centre in the surface");
  Place low;
  body.problem.lattice = make_body(plane, runs, low);
  const LatticeBody& cells = *body.problem.lattice;
  body.volume = double(cells.num_elem()) * cube;
  const auto inner = [&low](const Place& place) { return moved(place, low, -1); };
  const auto has = [&](const Place& place) { return cells.node().has(inner(place)); };
  const auto number = [&](const Place& place) { return cells.node().number(inner(place)); };

  body.problem.young = design.young;
  body.problem.poisson = design.poisson;
  body.problem.materials = design.materials;
  body.problem.material = materials_of(design, lattice, cells, low, refine);
  for (const auto& [place, components] : held)
    if (has(place))
      body.problem.held.push_back({number(place), components});
  std::sort(body.problem.held.begin(), body.problem.held.end(),
            [](const HeldComponents& a, const HeldComponents& b) { return a.node < b.node; });
  body.num_supports = std::int64_t(support_places.size());
  body.num_supported = std::count_if(support_places.begin(), support_places.end(), has);
  for (const DesignLoadCase& one : design.cases) {
    PlacedForces forces, left;
    for (const NodeForce& force : one.loads.forces)
      add_force(forces, lattice.node(force.node), {force.force[0], force.force[1], force.force[2]},
                1);
    MovedForces moved_forces;
    const bool is_heavy = forces.empty() && !one.loads.body.empty(); // and has weight alone
    if (!is_heavy &&
        !move_forces(refine_forces(forces, refine), has, body.edge, left, moved_forces))
      throw NotReanalysed("no load of case " + std::to_string(body.moved.size() + 1) +
                          (one.loads.name.empty() ? "" : " '" + one.loads.name + "'") +
                          " touches the surface any more: keep layers around loads, or a lower "
                          "level of the surface");
    body.moved.push_back(moved_forces);
    DesignLoadCase loaded{{one.loads.name, {}}, one.weight};
    loaded.loads.body = one.loads.body; // on the mass of what is solid now
    for (const auto& [place, force] : left)
      loaded.loads.forces.push_back({number(place), {force[0], force[1], force[2]}});
    body.problem.cases.push_back(std::move(loaded));
  }
  if (const std::string motion = describe_free_motion(cells, body.problem.held); !motion.empty())
    throw NotReanalysed("of what the surface has at supports, " + motion +
                        ": keep layers around supports, or a lower level of the surface");
  return body;
}

} // namespace ossatura
