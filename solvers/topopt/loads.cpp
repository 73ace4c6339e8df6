// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/loads.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/distribute_load.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace ossatura {

namespace {

/// The sum of forces, nodes ascending and each once; `what` names them in errors.
std::vector<NodeForce> sum_forces(const std::vector<NodeForce>& forces, std::size_t num_nodes,
                                  const std::string& what) {
  std::map<std::int32_t, NodeForce> sum;
  for (const NodeForce& f : forces) {
    OSSATURA_REQUIRE(f.node >= 0 && std::size_t(f.node) < num_nodes,
                     what << ": node " << f.node << " of " << num_nodes);
    NodeForce& own = sum.try_emplace(f.node, NodeForce{f.node, {0, 0, 0}}).first->second;
    for (int c = 0; c < 3; ++c) {
      OSSATURA_REQUIRE(std::isfinite(f.force[c]), what << ": " << f.force[c] << " at " << f.node);
      own.force[c] += f.force[c];
    }
  }
  std::vector<NodeForce> list;
  for (const auto& [node, force] : sum)
    list.push_back(force);
  return list;
}

/// On the components that are free; throws if there is nothing, unless that `may_be`.
template<class Exec>
DesignForce<Exec> make_force(const Exec& exec, const std::vector<NodeForce>& forces,
                             std::size_t num_nodes, const DesignBody<Exec>& body,
                             const std::string& what, bool may_be = false) {
  const DesignForce<Exec> force = body.place_forces(exec, sum_forces(forces, num_nodes, what));
  OSSATURA_REQUIRE(may_be || body.square(exec, force) > 0,
                   what << ": nothing on components that are free");
  return force;
}

/// The displacements of a load case; empty where it has none.
template<class Exec>
Array<double, Exec> make_imposed(const Exec& exec, const DesignProblem& problem,
                                 const std::vector<NodeDisplacement>& displacements,
                                 const DesignBody<Exec>& body, const std::string& what) {
  if (displacements.empty())
    return {};
  struct Moved {
    std::uint8_t held = 0;
    NodeForce by{};
  };
  std::map<std::int32_t, Moved> moved;
  for (const NodeDisplacement& u : displacements)
    moved[u.node].by.node = u.node;
  for (const HeldComponents& one : problem.held)
    if (const auto found = moved.find(one.node); found != moved.end())
      found->second.held |= one.components;
  for (const NodeDisplacement& u : displacements) {
    OSSATURA_REQUIRE(u.node >= 0 && std::size_t(u.node) < problem.num_nodes() && u.component >= 0 &&
                         u.component < 3 && std::isfinite(u.value),
                     what << ": a displacement of " << u.value << " of component " << u.component
                          << " of node " << u.node << " of " << problem.num_nodes());
    Moved& node = moved[u.node];
    OSSATURA_REQUIRE(node.held >> u.component & 1,
                     what << ": component " << u.component << " of node " << u.node
                          << " is to move by " << u.value << ", but is not held");
    double& own = node.by.force[u.component];
    OSSATURA_REQUIRE(own == 0 || own == u.value, what << ": component " << u.component
                                                      << " of node " << u.node << " is to move by "
                                                      << own << " and by " << u.value);
    own = u.value;
  }
  std::vector<NodeForce> list;
  for (const auto& [number, node] : moved)
    list.push_back(node.by);
  return body.place_values(exec, list);
}

/// The loads on mass of a load case.
std::vector<BodyLoad> checked_body_loads(const DesignProblem& problem,
                                         const std::vector<BodyLoad>& loads,
                                         const std::string& what) {
  for (const BodyLoad& load : loads) {
    double length = 0, size = load.square_speed;
    for (std::size_t c = 0; c < 3; ++c) {
      length += load.axis[c] * load.axis[c];
      size += std::fabs(load.acceleration[c]) + 0 * load.origin[c];
    }
    OSSATURA_REQUIRE(std::isfinite(size + length) && load.square_speed >= 0,
                     what << ": a load on mass is not finite, or turns at the root of "
                          << load.square_speed);
    OSSATURA_REQUIRE(load.square_speed == 0 || std::fabs(length - 1) < 1e-9,
                     what << ": the axis of rotation is of length " << std::sqrt(length));
    const auto mirror = find_asymmetry(problem, load);
    OSSATURA_REQUIRE(!mirror, what << ": mirror " << *mirror << " changes a load on mass");
  }
  return loads;
}

/// The work of nodal forces at the components that displacements move, which vectors of forces
/// leave out.
double moved_work(const NodeLoads& loads) {
  std::map<std::pair<std::int32_t, int>, double> moved;
  for (const NodeDisplacement& one : loads.displacements)
    moved[{one.node, one.component}] = one.value;
  double work = 0;
  if (!moved.empty())
    for (const NodeForce& force : loads.forces)
      for (int c = 0; c < 3; ++c)
        if (const auto found = moved.find({force.node, c}); found != moved.end())
          work += force.force[c] * found->second;
  return work;
}

/// Whether some of the nodes are of a rigid body, on which loads act by their resultants.
bool are_rigid(const DesignProblem& problem, const std::vector<std::int32_t>& nodes) {
  std::set<std::int32_t> rigid;
  for (const std::vector<std::int32_t>& body : problem.rigid)
    rigid.insert(body.begin(), body.end());
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](std::int32_t node) { return rigid.count(node) > 0; });
}

/// Whether the image in a mirror across `axis` of a force and a moment at a point in it cancels a
/// part of them.
bool cancelled_by(std::size_t axis, const std::array<double, 3>& force,
                  const std::array<double, 3>& moment) {
  constexpr double slack = 1e-6; // of numbers in text
  const auto size = [](const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); };
  bool is_cancelled = std::fabs(force[axis]) > slack * size(force);
  for (std::size_t c = 0; c < 3; ++c)
    is_cancelled = is_cancelled || (c != axis && std::fabs(moment[c]) > slack * size(moment));
  return is_cancelled;
}

/// The load of how much warmer nodes are in a load case; empty where they are not.
template<class Exec>
ThermalLoad<Exec> checked_thermal_load(const Exec& exec, const DesignProblem& problem,
                                       const std::vector<double>& warming,
                                       const DesignBody<Exec>& body, const std::string& what) {
  if (warming.empty())
    return {};
  OSSATURA_REQUIRE(warming.size() == problem.num_nodes(), what << ": " << warming.size()
                                                               << " temperatures of "
                                                               << problem.num_nodes() << " nodes");
  for (std::size_t n = 0; n < warming.size(); ++n)
    OSSATURA_REQUIRE(std::isfinite(warming[n]),
                     what << ": node " << n << " is warmer by " << warming[n]);
  return body.thermal_load(exec, problem, warming);
}

} // namespace

std::vector<double> node_shares(const DesignProblem& problem,
                                const std::vector<std::int32_t>& nodes) {
  std::vector<double> share(nodes.size(), 1);
  const double slack = problem.mirrors.empty() ? 0 : rounding_of(problem.bounds());
  double sum = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::array<double, 3> x = problem.point(nodes[i]);
    for (const MirrorPlane& mirror : problem.mirrors)
      if (std::fabs(x[std::size_t(mirror.axis)] - mirror.place) <= slack)
        share[i] /= 2;
    sum += share[i];
  }
  for (double& one : share)
    one /= sum;
  return share;
}

std::vector<NodeForce> remote_load(const DesignProblem& problem,
                                   const std::vector<std::int32_t>& nodes,
                                   const std::array<double, 3>& point,
                                   const std::array<double, 3>& force,
                                   const std::array<double, 3>& moment, std::string& defect) {
  const double slack = problem.mirrors.empty() ? 0 : rounding_of(problem.bounds());
  std::vector<double> x; // of the nodes, then of images, those of the first mirror before others
  std::vector<WeightedNode> weighted;
  for (const std::int32_t node : nodes) {
    const std::array<double, 3> own = problem.point(node);
    x.insert(x.end(), own.begin(), own.end());
    weighted.push_back({std::int32_t(weighted.size()), 1});
  }
  std::array<double, 3> all = force, turning = moment; // of nodes and images
  const bool is_rigid = are_rigid(problem, nodes);
  for (const MirrorPlane& mirror : problem.mirrors) {
    const auto axis = std::size_t(mirror.axis);
    if (is_rigid || std::fabs(point[axis] - mirror.place) > slack)
      continue;
    if (cancelled_by(axis, force, moment)) {
      std::ostringstream text;
      text << "the point lies in the mirror "
           << "xyz"[axis] << " = " << mirror.place
           << ", beyond which its image cancels a force across the mirror and a moment about an "
              "axis in it: leave these out, or give a point beside the mirror, whose image is "
              "another one";
      defect = text.str();
      return {};
    }
    const std::size_t count = weighted.size();
    for (std::size_t i = 0; i < count; ++i) { // one in the mirror lies upon its image
      if (std::fabs(x[3 * i + axis] - mirror.place) <= slack)
        weighted[i].weight /= 2;
      WeightedNode image = weighted[i];
      image.node = std::int32_t(weighted.size());
      weighted.push_back(image);
      for (std::size_t c = 0; c < 3; ++c)
        x.push_back(c == axis ? 2 * mirror.place - x[3 * i + c] : x[3 * i + c]);
    }
    for (std::size_t c = 0; c < 3; ++c) {
      all[c] *= 2;
      turning[c] *= 2;
    }
  }
  std::vector<NodeForce> forces = distribute_load(x, weighted, point, all, turning, defect);
  if (!defect.empty())
    defect += ": choose more nodes";
  forces.resize(std::min(forces.size(), nodes.size()));
  for (std::size_t i = 0; i < forces.size(); ++i)
    forces[i].node = nodes[i];
  return forces;
}

std::optional<std::size_t> find_asymmetry(const DesignProblem& problem, const BodyLoad& load) {
  const Box box = problem.bounds();
  constexpr double slack = 1e-6; // of numbers in text
  for (std::size_t m = 0; m < problem.mirrors.size(); ++m) {
    const auto axis = std::size_t(problem.mirrors[m].axis);
    double acceleration = 0, sideways = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      acceleration = std::max(acceleration, std::fabs(load.acceleration[c]));
      sideways = std::max(sideways, c == axis ? 0 : std::fabs(load.axis[c]));
    }
    const double off = std::fabs(load.origin[axis] - problem.mirrors[m].place);
    const bool is_in_plane = std::fabs(load.axis[axis]) <= slack && off <= rounding_of(box);
    if (std::fabs(load.acceleration[axis]) > slack * acceleration ||
        (load.square_speed > 0 && sideways > slack && !is_in_plane))
      return m;
  }
  return std::nullopt;
}

template<class Exec>
DesignLoads<Exec> make_design_loads(const Exec& exec, const DesignProblem& problem,
                                    bool is_mechanism, const DesignBody<Exec>& body) {
  const std::size_t num_nodes = problem.num_nodes();
  DesignLoads<Exec> loads;
  OSSATURA_REQUIRE(!problem.cases.empty(), "no load case");
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    const DesignLoadCase& c = problem.cases[k];
    std::ostringstream what;
    what << "load case " << k + 1;
    if (!c.loads.name.empty())
      what << " (" << c.loads.name << ')';
    OSSATURA_REQUIRE(c.weight > 0 && std::isfinite(c.weight), what.str()
                                                                  << ": weight " << c.weight);
    const Array<double, Exec> imposed =
        make_imposed(exec, problem, c.loads.displacements, body, what.str());
    const bool has_others =
        imposed.extent(0) > 0 || !c.loads.body.empty() || !c.loads.warming.empty();
    loads.cases.push_back(
        {make_force(exec, c.loads.forces, num_nodes, body, what.str(), has_others), c.weight,
         imposed, checked_body_loads(problem, c.loads.body, what.str()),
         checked_thermal_load(exec, problem, c.loads.warming, body, what.str()),
         moved_work(c.loads)});
  }
  OSSATURA_REQUIRE(is_mechanism == !problem.output.empty(),
                   problem.output.size() << " output directions, which are of mechanisms alone");
  loads.has_output = is_mechanism;
  if (is_mechanism)
    loads.output = make_force(exec, problem.output, num_nodes, body, "the output");
  return loads;
}

template<class Exec>
DesignForce<Exec> make_design_force(const Exec& exec, const DesignProblem& problem,
                                    const std::vector<NodeForce>& forces,
                                    const DesignBody<Exec>& body, const std::string& what) {
  return make_force(exec, forces, problem.num_nodes(), body, what);
}

std::vector<double> sum_springs(const DesignProblem& problem) {
  const std::size_t num_nodes = problem.num_nodes();
  std::vector<double> spring(3 * num_nodes);
  for (const NodeSpring& s : problem.springs) {
    OSSATURA_REQUIRE(s.node >= 0 && std::size_t(s.node) < num_nodes && s.component >= 0 &&
                         s.component < 3 && s.stiffness >= 0 && std::isfinite(s.stiffness),
                     "a spring of " << s.stiffness << " from component " << s.component
                                    << " of node " << s.node);
    spring[3 * std::size_t(s.node) + std::size_t(s.component)] += s.stiffness;
  }
  return spring;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template DesignLoads<Exec> make_design_loads(const Exec&, const DesignProblem&, bool,            \
                                               const DesignBody<Exec>&);                           \
  template DesignForce<Exec> make_design_force(const Exec&, const DesignProblem&,                  \
                                               const std::vector<NodeForce>&,                      \
                                               const DesignBody<Exec>&, const std::string&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
