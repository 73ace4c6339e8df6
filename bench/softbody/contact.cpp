// SPDX-License-Identifier: Apache-2.0
// These rows time contact of a soft body whose 82 lowest nodes are below a plane, 246 constraints
// as Zeng and Courtecuisse's liver has on average (arXiv 2306.05893):
//   soft_contact/<what>/<backend>/f64/<mesh>:<n>
// What:
//   detect      the nodes below the plane
//   compliance  H A^-1 H^T from the inverse factor in single precision
//   sweeps      projected Gauss-Seidel from no forces to a tolerance of 1e-8
//   solve       all of it, from the forces of the last step
//   step_every4, step_sync
//               whole steps of examples/softbody/liver-on-plane.json, the ten in which it flattens
//               on the table, by the policy of the factor; `contacts`, `rounds` and
//               `pcg_iterations` are means of a step
// Rows are verified before they are timed: the compliance against products with A^-1 of another
// kernel, forces by the residual of the contact conditions, and each step by its own.
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/softbody/mesh.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/softbody/contact/forces.hpp>
#include <ossatura/kernels/softbody/contact/projected_gauss_seidel.hpp>
#include <ossatura/solvers/softbody/contact/solver.hpp>
#include <ossatura/solvers/softbody/factor/refresh.hpp>
#include <ossatura/solvers/softbody/model.hpp>
#include <ossatura/solvers/softbody/solver.hpp>
#include <ossatura/solvers/softbody/system.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

namespace ossatura::bench {

namespace {

constexpr int num_contacts = 82;
constexpr double time_step = 0.01;

double height_of(const SoftObstacle& plane, const double* x) {
  return plane.normal[0] * x[0] + plane.normal[1] * x[1] + plane.normal[2] * x[2];
}

SoftScene body_on_plane(const SoftMeshName& name) {
  SoftScene scene;
  scene.objects.resize(1);
  scene.objects[0].name = "body";
  scene.objects[0].mesh = cached_soft_mesh(name);
  scene.objects[0].node_mass = 0.01;
  scene.obstacles.resize(1);
  SoftObstacle& plane = scene.obstacles[0];
  if (name.name == "beam") { // lies on a whole side: the plane meets one end of it
    plane.normal[0] = 0.1;
    plane.normal[1] = 0.03;
  }
  const std::vector<double>& point = scene.objects[0].mesh.point;
  std::vector<double> height;
  for (std::size_t i = 0; i < point.size(); i += 3)
    height.push_back(height_of(plane, &point[i]));
  std::sort(height.begin(), height.end());
  const std::size_t last = std::min(height.size() - 1, std::size_t(num_contacts));
  // Between two heights: all nodes of the highest one below are below.
  const auto above = std::upper_bound(height.begin(), height.end(), height[last - 1]);
  const double level =
      above == height.end() ? height.back() + 0.01 : 0.5 * (height[last - 1] + *above);
  plane.point[2] = level / plane.normal[2];
  plane.friction = 0.3;
  scene.contact_distance = 0;
  return scene;
}

int nodes_below_plane(const SoftScene& scene) {
  const std::vector<double>& point = scene.objects[0].mesh.point;
  const SoftObstacle& plane = scene.obstacles[0];
  int below = 0;
  for (std::size_t i = 0; i < point.size(); i += 3)
    below += height_of(plane, &point[i]) < height_of(plane, plane.point);
  return below;
}

template<class Exec>
struct ContactProblem {
  SoftScene scene;
  SoftNumbering numbering;
  ContactSolver<Exec> contact;
  Array<double, Exec> x, x_last, force;
  std::unique_ptr<FactorRefreshing<Exec>> factors;
  const InverseFactor<Exec, float>* inverse;
  ContactPairs<Exec> pairs;
  Array<double, Exec> free_motion;

  ContactProblem(const Exec& exec, const SoftMeshName& name)
      : scene(body_on_plane(name))
      , numbering(number_scene(scene))
      , contact(exec, scene, numbering.node_of, {}) {
    const std::int64_t n = 3 * std::int64_t(numbering.num_nodes);
    x = upload(exec, "ossatura::bench::x", numbering.point);
    std::vector<double> above = numbering.point;
    for (std::size_t i = 0; i < above.size(); ++i)
      above[i] += i % 3 == 2 ? 0.01 : 0.004; // where the body came from
    x_last = upload(exec, "ossatura::bench::x_last", above);
    force = make_zeros<double>(exec, n, "ossatura::bench::force");
    SoftSystem<Exec> system(exec, scene, numbering, SoftAssembly::elements);
    const SoftCoefficients c{1, time_step * time_step, 0, time_step};
    system.collect(exec, c, x, force);
    system.compress(exec, c, force, force, x_last); // the right-hand side is not used
    Kokkos::deep_copy(exec, force, 0.);
    x_last = upload(exec, "ossatura::bench::x_last", above);
    SoftOptions options;
    options.apply = FactorApply::inverse;
    options.storage = FactorStorage::fp32;
    options.refresh = FactorRefresh::sync;
    options.place = FactorPlace::host;
    options.warp = false;
    options.bands = 1; // as the compliance needs it
    factors = std::make_unique<FactorRefreshing<Exec>>(exec, numbering.pattern, system.matrix(),
                                                       NodeRotations<Exec>(), options);
    factors->update(exec, system.matrix(), x, true);
    inverse = std::get<const InverseFactor<Exec, float>*>(factors->preconditioner().inverse());
    contact.detect(exec, x_last, x);
    const std::vector<ContactPair> found = contact.pairs(exec);
    pairs.num_pairs = int(found.size());
    pairs.pair = upload(exec, "ossatura::bench::pairs", found);
    pairs.multiplier = make_zeros<double>(exec, 3 * pairs.num_pairs, "ossatura::bench::multiplier");
    free_motion = make_zeros<double>(exec, 3 * pairs.num_pairs, "ossatura::bench::free_motion");
    measure_free_motion(exec, pairs, {}, x_last, x, false, free_motion);
    fence(exec, "ossatura::bench::contact");
  }
  double scale() const { return time_step * time_step; }
};

/// What is wrong with a compliance: its first row against H A^-1 (H^T e).
template<class Exec>
std::optional<std::string> defect(const Exec& exec, ContactProblem<Exec>& problem,
                                  const Compliance<Exec>& compliance) {
  const auto host_pairs = problem.contact.pairs(exec);
  const InverseLayout layout = make_inverse_layout(problem.numbering.pattern);
  InverseProduct<Exec, float> product(exec, problem.numbering.pattern, layout);
  std::vector<double> right(3 * std::size_t(problem.numbering.num_nodes), 0.);
  for (int d = 0; d < 3; ++d)
    right[3 * std::size_t(host_pairs[0].node[0]) + std::size_t(d)] = host_pairs[0].frame[d];
  const auto r = upload(exec, "ossatura::bench::r", right);
  const auto z = make_zeros<double>(exec, std::int64_t(right.size()), "ossatura::bench::z");
  product.apply(exec, *problem.inverse, r, z);
  const auto answer = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), z);
  const auto row = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), compliance.value);
  double worst = 0, largest = 0;
  for (int p = 0; p < compliance.num_pairs; ++p)
    for (int c = 0; c < 3; ++c) {
      double expected = 0;
      for (int d = 0; d < 3; ++d)
        expected += problem.scale() * host_pairs[p].frame[3 * c + d] *
                    answer(3 * std::size_t(host_pairs[p].node[0]) + std::size_t(d));
      worst = std::max(worst, std::abs(row(3 * p + c) - expected));
      largest = std::max(largest, std::abs(expected));
    }
  if (worst <= 1e-5 * largest)
    return std::nullopt;
  return "a row is off by " + std::to_string(worst / largest);
}

template<class Exec>
void run_contact(benchmark::State& state, const Exec& exec, const SoftMeshName& name,
                 const std::string& what) {
  ContactProblem<Exec> problem(exec, name);
  ComplianceSpace<Exec> space;
  Compliance<Exec> compliance;
  SweepSpace<Exec> sweeps;
  const auto form = [&] {
    make_compliance(exec, problem.pairs, *problem.inverse, Array<double, Exec>(), problem.scale(),
                    space, compliance);
  };
  if (const int below = nodes_below_plane(problem.scene);
      below == 0 || problem.pairs.num_pairs != below)
    return fail_benchmark(state, std::to_string(problem.pairs.num_pairs) + " of " +
                                     std::to_string(below) + " nodes below the plane were found");
  form();
  if (const auto wrong = defect(exec, problem, compliance))
    return fail_benchmark(state, *wrong);
  const auto sweep = [&] {
    Kokkos::deep_copy(exec, problem.pairs.multiplier, 0.);
    sweep_contacts(exec, problem.pairs, compliance, problem.free_motion, 500, 1e-8, sweeps);
  };
  sweep();
  const ContactErrors errors = measure_contact_errors(exec, problem.pairs, sweeps.motion, sweeps);
  if (!(std::max(errors.complementarity, errors.friction) <
        1e-7 * look_at_sweeps(exec, sweeps).scale))
    return fail_benchmark(state, "the sweeps did not converge");
  const auto solve = [&] {
    return problem.contact.solve(exec, *problem.inverse, problem.scale(), problem.x_last, problem.x,
                                 problem.force);
  };
  if (!solve().converged)
    return fail_benchmark(state, "the solve did not converge");
  std::function<void()> work = form;
  if (what == "detect")
    work = [&] { problem.contact.detect(exec, problem.x_last, problem.x); };
  else if (what == "sweeps")
    work = sweep;
  else if (what == "solve")
    work = [&] {
      problem.contact.detect(exec, problem.x_last, problem.x);
      solve();
    };
  time_iterations(state, exec, work);
  state.counters["constraints"] = 3.0 * problem.pairs.num_pairs;
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sweeps.result);
  state.counters["sweeps"] = result(0).sweeps;
}

/// The scene of the example.
SoftScene liver_on_plane(int cells) {
  SoftScene scene;
  scene.objects.resize(1);
  SoftObject& liver = scene.objects[0];
  liver.name = "liver";
  liver.mesh = make_tetra_ellipsoid({0.1, 0.07, 0.04}, cells);
  const double turn = 20 * Kokkos::numbers::pi / 180, c = std::cos(turn), s = std::sin(turn);
  for (std::size_t i = 0; i < liver.mesh.point.size(); i += 3) {
    double* const x = &liver.mesh.point[i];
    const double along = c * x[0] + s * x[2], up = -s * x[0] + c * x[2];
    x[0] = along;
    x[2] = up + 0.08;
  }
  liver.material.young = 5000;
  liver.material.poisson = 0.45;
  liver.density = 1060;
  scene.gravity[2] = -9.81;
  scene.obstacles.resize(1);
  scene.obstacles[0].normal[0] = 0.1;
  scene.obstacles[0].normal[2] = 1;
  scene.obstacles[0].friction = 0.4;
  scene.contact_distance = 0.005;
  return scene;
}

template<class Exec>
void run_steps(benchmark::State& state, const Exec& exec, int cells, FactorRefresh refresh) {
  constexpr int before = 7, steps = 10; // until it is about to touch, and in contact
  SoftOptions options;
  options.time_step = time_step;
  options.rayleigh_mass = 0.1;
  options.rayleigh_stiffness = 0.02;
  options.refresh = refresh;
  SoftSolver<Exec> solver(exec, liver_on_plane(cells), options);
  for (int k = 0; k < before; ++k)
    solver.step(exec);
  const SoftState start = solver.state(exec);
  double contacts = 0, rounds = 0, iterations = 0;
  const auto land = [&] {
    solver.set_state(exec, start);
    double seconds = 0;
    contacts = rounds = iterations = 0;
    for (int k = 0; k < steps; ++k) {
      const SoftStep report = solver.step(exec);
      if (!report.converged)
        throw std::runtime_error("a step did not converge: contact residual " +
                                 std::to_string(report.contact_residual));
      seconds += report.total;
      contacts += report.contacts;
      rounds += report.contact_rounds;
      iterations += report.iterations;
    }
    return seconds;
  };
  land();
  if (contacts == 0)
    return fail_benchmark(state, "nothing was touched");
  time_calls(state, land, steps);
  state.counters["contacts"] = contacts / steps;
  state.counters["rounds"] = rounds / steps;
  state.counters["pcg_iterations"] = iterations / steps;
}

template<class Exec>
void register_step_rows(const Options& options) {
  const int cells = options.quick ? 5 : 13;
  for (const FactorRefresh refresh : {FactorRefresh::every, FactorRefresh::sync})
    add_row(options,
            row_name<Exec, double>(refresh == FactorRefresh::sync ? "soft_contact/step_sync"
                                                                  : "soft_contact/step_every4",
                                   "liver", cells),
            [=](benchmark::State& state) { run_steps(state, Exec(), cells, refresh); });
}

template<class Exec>
void register_rows(const Options& options, const SoftMeshName& name) {
  for (const char* what : {"detect", "compliance", "sweeps", "solve"})
    add_row(options, row_name<Exec, double>(std::string("soft_contact/") + what, name.name, name.n),
            [=](benchmark::State& state) { run_contact(state, Exec(), name, std::string(what)); });
}

} // namespace

void register_soft_contact(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    for (const SoftMeshName& name : soft_mesh_names(options))
      register_rows<BackendOf<decltype(backend)>>(options, name);
    register_step_rows<BackendOf<decltype(backend)>>(options);
  });
}

} // namespace ossatura::bench
