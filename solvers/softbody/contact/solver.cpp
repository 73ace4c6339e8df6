// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/contact/solver.hpp>

#include <ossatura/core/mesh/element_surface.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/contact/forces.hpp>
#include <ossatura/kernels/softbody/contact/projected_gauss_seidel.hpp>
#include <ossatura/solvers/softbody/contact/compliance.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace ossatura {

namespace {

void check_numbering(const SoftScene& scene, const std::vector<std::vector<int>>& node_of) {
  OSSATURA_REQUIRE(node_of.size() == scene.objects.size(),
                   "node numbers of " << node_of.size() << " objects, there are "
                                      << scene.objects.size());
  std::size_t num_nodes = 0;
  for (std::size_t k = 0; k < node_of.size(); ++k) {
    OSSATURA_REQUIRE(node_of[k].size() == scene.objects[k].mesh.num_points(),
                     "object '" << scene.objects[k].name << "' has "
                                << scene.objects[k].mesh.num_points() << " points and "
                                << node_of[k].size() << " node numbers");
    num_nodes += node_of[k].size();
  }
  std::vector<char> seen(num_nodes, 0);
  for (const auto& nodes : node_of)
    for (const int i : nodes) {
      OSSATURA_REQUIRE(i >= 0 && std::size_t(i) < num_nodes && !seen[i],
                       "node number " << i << " twice or not below " << num_nodes);
      seen[i] = 1;
    }
}

ContactObstacle obstacle_of(const SoftObstacle& from, std::size_t number) {
  ContactObstacle obstacle{};
  obstacle.sphere = from.kind == SoftObstacle::Kind::sphere;
  const double length = std::hypot(from.normal[0], from.normal[1], from.normal[2]);
  OSSATURA_REQUIRE(obstacle.sphere || (length > 0 && std::isfinite(length)),
                   "obstacle " << number << ": the normal of a plane has length " << length);
  OSSATURA_REQUIRE(!obstacle.sphere || (from.radius > 0 && std::isfinite(from.radius)),
                   "obstacle " << number << ": a sphere of radius " << from.radius);
  OSSATURA_REQUIRE(from.friction >= 0 && std::isfinite(from.friction),
                   "obstacle " << number << ": friction " << from.friction);
  for (int d = 0; d < 3; ++d) {
    OSSATURA_REQUIRE(std::isfinite(from.point[d]),
                     "obstacle " << number << ": a coordinate is not finite");
    obstacle.point[d] = from.point[d];
    obstacle.normal[d] = obstacle.sphere ? 0 : from.normal[d] / length;
  }
  obstacle.radius = from.radius;
  obstacle.friction = from.friction;
  return obstacle;
}

/// At the start; obstacles as far as their points say.
double largest_coordinate(const SoftScene& scene) {
  double largest = 0;
  for (const SoftObject& object : scene.objects)
    for (const double x : object.mesh.point)
      largest = std::max(largest, std::abs(x));
  for (const SoftObstacle& obstacle : scene.obstacles)
    for (const double x : obstacle.point)
      largest = std::max(largest, std::abs(x));
  return largest;
}

/// What ContactSurfaces know of the triangles around each node.
template<class Exec>
void set_triangles_around(const Exec& exec, const std::vector<int>& triangle,
                          ContactSurfaces<Exec>& surfaces) {
  const std::size_t num_nodes = std::size_t(surfaces.num_nodes);
  std::vector<int> begin(num_nodes + 1, 0), around(triangle.size()), border(num_nodes, 0);
  std::vector<std::pair<int, int>> edge; // of all triangles
  for (const int node : triangle)
    ++begin[std::size_t(node) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int> place(begin.begin(), begin.end() - 1);
  for (std::size_t k = 0; k < triangle.size(); ++k) {
    around[std::size_t(place[std::size_t(triangle[k])]++)] = int(k / 3);
    edge.push_back(std::minmax<int>({triangle[k], triangle[k % 3 == 2 ? k - 2 : k + 1]}));
  }
  std::sort(edge.begin(), edge.end());
  for (std::size_t k = 0; k < edge.size(); ++k)
    if ((k == 0 || edge[k - 1] != edge[k]) && (k + 1 == edge.size() || edge[k + 1] != edge[k]))
      border[std::size_t(edge[k].first)] = border[std::size_t(edge[k].second)] = 1;
  surfaces.around = upload(exec, "ossatura::contact::around", around);
  surfaces.around_begin = upload(exec, "ossatura::contact::around_begin", begin);
  surfaces.border = upload(exec, "ossatura::contact::border", border);
}

template<class Exec>
ContactSurfaces<Exec> make_surfaces(const Exec& exec, const SoftScene& scene,
                                    const std::vector<std::vector<int>>& node_of) {
  check_numbering(scene, node_of);
  OSSATURA_REQUIRE(scene.contact_distance >= 0 && std::isfinite(scene.contact_distance),
                   "contact distance " << scene.contact_distance);
  OSSATURA_REQUIRE(scene.contact_friction >= 0 && std::isfinite(scene.contact_friction),
                   "friction between objects " << scene.contact_friction);
  ContactSurfaces<Exec> surfaces;
  for (const auto& nodes : node_of)
    surfaces.num_nodes += int(nodes.size());
  surfaces.num_obstacles = int(scene.obstacles.size());
  surfaces.distance = scene.contact_distance;
  surfaces.friction = scene.contact_friction;
  std::vector<ContactObstacle> obstacles;
  for (const SoftObstacle& obstacle : scene.obstacles)
    obstacles.push_back(obstacle_of(obstacle, obstacles.size()));
  surfaces.obstacle = upload(exec, "ossatura::contact::obstacle", obstacles);
  std::vector<int> fixed(surfaces.num_nodes, 0), object_of(surfaces.num_nodes, -1);
  for (std::size_t k = 0; k < node_of.size(); ++k)
    for (const std::int32_t i : scene.objects[k].fixed) {
      OSSATURA_REQUIRE(i >= 0 && std::size_t(i) < node_of[k].size(),
                       "object '" << scene.objects[k].name << "': fixed point " << i);
      fixed[node_of[k][i]] = 1;
    }
  surfaces.fixed = upload(exec, "ossatura::contact::fixed", fixed);

  if (scene.contact_between_objects && node_of.size() > 1) {
    surfaces.num_objects = int(node_of.size());
    std::vector<int> triangle, triangle_begin{0}, surface_node, surface_begin{0}, two_sided;
    for (std::size_t k = 0; k < node_of.size(); ++k) {
      const ElementMesh& mesh = scene.objects[k].mesh;
      for (const std::int32_t i : boundary_triangles(mesh)) {
        const int node = node_of[k][i];
        triangle.push_back(node);
        if (object_of[node] < 0)
          surface_node.push_back(node);
        object_of[node] = int(k);
      }
      triangle_begin.push_back(int(triangle.size() / 3));
      surface_begin.push_back(int(surface_node.size()));
      two_sided.push_back(mesh.shape == ElementShape::triangle);
    }
    surfaces.triangle = upload(exec, "ossatura::contact::triangle", triangle);
    surfaces.triangle_begin = upload(exec, "ossatura::contact::triangle_begin", triangle_begin);
    surfaces.surface_node = upload(exec, "ossatura::contact::surface_node", surface_node);
    surfaces.surface_begin = upload(exec, "ossatura::contact::surface_begin", surface_begin);
    surfaces.two_sided = upload(exec, "ossatura::contact::two_sided", two_sided);
    set_triangles_around(exec, triangle, surfaces);
  }
  surfaces.object_of = upload(exec, "ossatura::contact::object_of", object_of);
  return surfaces;
}

} // namespace

template<class Exec>
struct ContactSolver<Exec>::Implementation {
  ContactSurfaces<Exec> surfaces;
  int max_sweeps;
  double tolerance;
  double least_motion; ///< m, that coordinates of the scene's size can tell
  double scale = 0;    ///< m, of the step: the largest free motion, if that is more
  TriangleGrid<Exec> grid;
  PairLists<Exec> lists;
  ContactPairs<Exec> pairs, last;
  bool solved = false; ///< `pairs` have multipliers
  CornerMap<Exec> corners;
  ComplianceSpace<Exec> compliance_space;
  Compliance<Exec> compliance;
  Array<double, Exec> free_motion;
  SweepSpace<Exec> sweep_space;

  Implementation(const Exec& exec, const SoftScene& scene,
                 const std::vector<std::vector<int>>& node_of, const SoftOptions& options)
      : surfaces(make_surfaces(exec, scene, node_of))
      , max_sweeps(options.contact_iterations)
      , tolerance(options.contact_tolerance)
      , least_motion(largest_coordinate(scene) * 32 * std::numeric_limits<double>::epsilon()) {
    OSSATURA_REQUIRE(max_sweeps > 0, max_sweeps << " sweeps for contact");
    OSSATURA_REQUIRE(tolerance > 0, "contact tolerance " << tolerance);
    if (surfaces.num_objects > 0)
      grid = make_triangle_grid(exec, surfaces);
    lists = make_pair_lists(exec, surfaces);
  }

  void check(const Array<double, Exec>& array, const char* name) const {
    OSSATURA_REQUIRE(std::int64_t(array.extent(0)) == 3 * std::int64_t(surfaces.num_nodes),
                     array.extent(0)
                         << " entries of " << name << " for " << surfaces.num_nodes << " nodes");
  }

  template<class Factor>
  ContactResult solve(const Exec& exec, Factor& factor, int num_nodes, double h2,
                      const Array<double, Exec>& x, const Array<double, Exec>& x_free,
                      const Array<double, Exec>& force, const Array<double, Exec>& rotation,
                      double wanted) {
    check(x, "x");
    check(x_free, "x_free");
    check(force, "force");
    OSSATURA_REQUIRE(num_nodes == surfaces.num_nodes,
                     "a factor of " << num_nodes << " nodes for " << surfaces.num_nodes);
    OSSATURA_REQUIRE(rotation.extent(0) == 0 ||
                         std::int64_t(rotation.extent(0)) == 9 * std::int64_t(surfaces.num_nodes),
                     rotation.extent(0) << " entries of rotations");
    OSSATURA_REQUIRE(h2 > 0, "scale " << h2);
    if (pairs.num_pairs == 0) {
      Kokkos::deep_copy(exec, force, 0.);
      fence(exec, "ossatura::ContactSolver::solve");
      return {};
    }
    detail::make_room(exec, 3 * std::int64_t(pairs.num_pairs), free_motion,
                      "ossatura::contact::free_motion");
    measure_free_motion(exec, pairs, last, x, x_free, true, free_motion);
    make_compliance(exec, pairs, factor, rotation, h2, compliance_space, compliance);
    return sweep(exec, force, wanted, least_motion / tolerance);
  }

  template<class Factor>
  void renew(const Exec& exec, Factor& factor, double h2, const Array<double, Exec>& rotation) {
    if (pairs.num_pairs > 0)
      make_compliance(exec, pairs, factor, rotation, h2, compliance_space, compliance);
  }

  /// The least `scale` is that for which the tolerance can be met.
  ContactResult sweep(const Exec& exec, const Array<double, Exec>& force, double wanted,
                      double least_scale) {
    sweep_contacts(exec, pairs, compliance, free_motion, max_sweeps,
                   wanted > 0 ? wanted : tolerance, sweep_space, least_scale);
    gather_contact_forces(exec, pairs, lists.begin, corners, surfaces.num_objects > 0, force);
    const SweepResult sweeps = look_at_sweeps(exec, sweep_space);
    const ContactErrors errors =
        measure_contact_errors(exec, pairs, sweep_space.motion, sweep_space);
    scale = sweeps.scale;
    ContactResult result;
    result.num_contacts = pairs.num_pairs;
    result.residual = std::max(errors.complementarity, errors.friction) / scale;
    result.iterations = sweeps.sweeps;
    result.converged =
        sweeps.change <= (wanted > 0 ? wanted : tolerance) && std::isfinite(result.residual);
    solved = true;
    return result;
  }
};

template<class Exec>
ContactSolver<Exec>::ContactSolver(const Exec& exec, const SoftScene& scene,
                                   const std::vector<std::vector<int>>& node_of,
                                   const SoftOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, scene, node_of, options)) {}

template<class Exec>
ContactSolver<Exec>::~ContactSolver() = default;

template<class Exec>
int ContactSolver<Exec>::detect(const Exec& exec, const Array<double, Exec>& x,
                                const Array<double, Exec>& x_free) {
  Implementation& m = *implementation_;
  m.check(x, "x");
  m.check(x_free, "x_free");
  if (m.solved)
    std::swap(m.pairs, m.last);
  m.solved = false;
  find_contact_pairs(exec, m.surfaces, m.grid, x, x_free, m.last, m.lists, m.pairs);
  if (m.surfaces.num_objects > 0 && m.pairs.num_pairs > 0)
    fill_corner_map(exec, m.pairs, m.surfaces.num_nodes, m.corners);
  if (m.pairs.num_pairs == 0)
    m.solved = true; // no multipliers are right: the next step starts from none
  return m.pairs.num_pairs;
}

template<class Exec>
template<class Storage>
ContactResult
ContactSolver<Exec>::solve(const Exec& exec, const InverseFactor<Exec, Storage>& factor,
                           double scale, const Array<double, Exec>& x,
                           const Array<double, Exec>& x_free, const Array<double, Exec>& force,
                           const Array<double, Exec>& rotation, double tolerance) {
  return implementation_->solve(exec, factor, factor.pattern.num_nodes, scale, x, x_free, force,
                                rotation, tolerance);
}

template<class Exec>
template<class Cores>
ContactResult ContactSolver<Exec>::solve(const Exec& exec, NodeCompliance<Cores>& nodes,
                                         double scale, const Array<double, Exec>& x,
                                         const Array<double, Exec>& x_free,
                                         const Array<double, Exec>& force,
                                         const Array<double, Exec>& rotation, double tolerance) {
  return implementation_->solve(exec, nodes, nodes.num_nodes(), scale, x, x_free, force, rotation,
                                tolerance);
}

template<class Exec>
template<class Storage>
void ContactSolver<Exec>::renew(const Exec& exec, const InverseFactor<Exec, Storage>& factor,
                                double scale, const Array<double, Exec>& rotation) {
  implementation_->renew(exec, factor, scale, rotation);
}

template<class Exec>
template<class Cores>
void ContactSolver<Exec>::renew(const Exec& exec, NodeCompliance<Cores>& nodes, double scale,
                                const Array<double, Exec>& rotation) {
  implementation_->renew(exec, nodes, scale, rotation);
}

template<class Exec>
ContactState ContactSolver<Exec>::measure(const Exec& exec, const Array<double, Exec>& x,
                                          const Array<double, Exec>& x_new) {
  Implementation& m = *implementation_;
  m.check(x, "x");
  m.check(x_new, "x_new");
  OSSATURA_REQUIRE(m.solved, "contacts are measured before they are solved");
  if (m.pairs.num_pairs == 0)
    return {};
  measure_free_motion(exec, m.pairs, m.last, x, x_new, false, m.free_motion);
  const ContactErrors errors = measure_contact_errors(exec, m.pairs, m.free_motion, m.sweep_space);
  ContactState state{errors.penetration, errors.complementarity, errors.friction};
  state.residual = std::max(errors.complementarity, errors.friction) / m.scale;
  state.converged = state.residual <= m.tolerance;
  state.depth = errors.penetration / m.scale;
  return state;
}

template<class Exec>
ContactResult ContactSolver<Exec>::refine(const Exec& exec, const Array<double, Exec>& x,
                                          const Array<double, Exec>& x_new,
                                          const Array<double, Exec>& force, double tolerance) {
  Implementation& m = *implementation_;
  m.check(x, "x");
  m.check(x_new, "x_new");
  m.check(force, "force");
  OSSATURA_REQUIRE(m.solved, "contacts are refined before they are solved");
  if (m.pairs.num_pairs == 0) {
    Kokkos::deep_copy(exec, force, 0.);
    fence(exec, "ossatura::ContactSolver::refine");
    return {};
  }
  measure_free_motion(exec, m.pairs, m.last, x, x_new, false, m.free_motion);
  take_out_contacts(exec, m.pairs, m.compliance, m.free_motion);
  const double scale = m.scale;
  const ContactResult result = m.sweep(exec, force, tolerance, scale);
  m.scale = scale; // of the step, whatever the sweeps took for the free motion
  return result;
}

template<class Exec>
int ContactSolver<Exec>::num_pairs() const {
  return implementation_->pairs.num_pairs;
}

template<class Exec>
void ContactSolver<Exec>::forget() {
  implementation_->pairs.num_pairs = implementation_->last.num_pairs = 0;
  implementation_->solved = true;
}

namespace {

/// The first n entries: arrays of pairs have room for more.
template<class T, class Exec>
std::vector<T> download_first(const Exec& exec, const Array<T, Exec>& array, int n) {
  return download(exec, Array<T, Exec>(Kokkos::subview(array, Kokkos::make_pair(0, n))));
}

} // namespace

template<class Exec>
std::vector<ContactPair> ContactSolver<Exec>::pairs(const Exec& exec) const {
  return download_first(exec, implementation_->pairs.pair, implementation_->pairs.num_pairs);
}

template<class Exec>
std::vector<double> ContactSolver<Exec>::multipliers(const Exec& exec) const {
  OSSATURA_REQUIRE(implementation_->solved, "contacts are not solved yet");
  return download_first(exec, implementation_->pairs.multiplier,
                        3 * implementation_->pairs.num_pairs);
}

template<class Exec>
ContactMemory ContactSolver<Exec>::memory(const Exec& exec) const {
  const Implementation& m = *implementation_;
  ContactMemory memory;
  if (!m.solved || m.pairs.num_pairs == 0)
    return memory;
  const int num_targets = m.surfaces.num_targets();
  for (const ContactPair& pair : pairs(exec)) {
    memory.node.push_back(std::int32_t(pair.slot / num_targets));
    memory.target.push_back(std::int32_t(pair.slot % num_targets));
    memory.frame.insert(memory.frame.end(), pair.frame, pair.frame + 9);
  }
  memory.multiplier = multipliers(exec);
  return memory;
}

template<class Exec>
void ContactSolver<Exec>::recall(const Exec& exec, const ContactMemory& memory) {
  Implementation& m = *implementation_;
  forget();
  const std::size_t count = memory.node.size();
  OSSATURA_REQUIRE(memory.target.size() == count && memory.frame.size() == 9 * count &&
                       memory.multiplier.size() == 3 * count,
                   "pairs of contact with " << memory.frame.size() << " and "
                                            << memory.multiplier.size() << " numbers");
  if (count == 0)
    return;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto slot_of = [&](std::size_t p) {
    return std::int64_t(memory.node[p]) * m.surfaces.num_targets() + memory.target[p];
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return slot_of(a) < slot_of(b); });
  std::vector<ContactPair> pairs;
  std::vector<double> multiplier;
  for (const std::size_t p : order) {
    OSSATURA_REQUIRE(memory.node[p] >= 0 && memory.node[p] < m.surfaces.num_nodes &&
                         memory.target[p] >= 0 && memory.target[p] < m.surfaces.num_targets(),
                     "contact of node " << memory.node[p] << " with target " << memory.target[p]);
    ContactPair pair{};
    pair.slot = slot_of(p);
    std::copy_n(&memory.frame[9 * p], 9, pair.frame);
    pairs.push_back(pair);
    multiplier.insert(multiplier.end(), &memory.multiplier[3 * p], &memory.multiplier[3 * p] + 3);
  }
  m.pairs.num_pairs = int(count);
  m.pairs.pair = upload(exec, "ossatura::contact_pairs", pairs);
  m.pairs.multiplier = upload(exec, "ossatura::contact_pairs::multiplier", multiplier);
  m.solved = true;
}

template<class Exec>
std::vector<double> ContactSolver<Exec>::obstacle_forces(const Exec& exec) const {
  const Implementation& m = *implementation_;
  OSSATURA_REQUIRE(m.solved, "contacts are not solved yet");
  std::vector<double> forces;
  for (int o = 0; o < m.surfaces.num_obstacles; ++o) {
    double force[3] = {0, 0, 0};
    if (m.pairs.num_pairs > 0)
      sum_target_force(exec, m.pairs, o, m.surfaces.num_targets(), force);
    forces.insert(forces.end(), force, force + 3);
  }
  return forces;
}

#define OSSATURA_INSTANTIATE_SOLVE(Exec, ...)                                                      \
  template ContactResult ContactSolver<Exec>::solve(                                               \
      const Exec&, __VA_ARGS__&, double, const Array<double, Exec>&, const Array<double, Exec>&,   \
      const Array<double, Exec>&, const Array<double, Exec>&, double);                             \
  template void ContactSolver<Exec>::renew(const Exec&, __VA_ARGS__&, double,                      \
                                           const Array<double, Exec>&);
#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class ContactSolver<Exec>;                                                              \
  OSSATURA_INSTANTIATE_SOLVE(Exec, const InverseFactor<Exec, double>)                              \
  OSSATURA_INSTANTIATE_SOLVE(Exec, const InverseFactor<Exec, float>)                               \
  OSSATURA_INSTANTIATE_SOLVE(Exec, const InverseFactor<Exec, Half>)
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE
#define OSSATURA_INSTANTIATE(Exec) OSSATURA_INSTANTIATE_SOLVE(Exec, NodeCompliance<Exec>)
OSSATURA_FOR_SERIAL(OSSATURA_INSTANTIATE)
OSSATURA_FOR_OPENMP(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE
#undef OSSATURA_INSTANTIATE_SOLVE

} // namespace ossatura
