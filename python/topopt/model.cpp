// SPDX-License-Identifier: Apache-2.0
#include "python/topopt/model.hpp"

#include "python/engine/arrays.hpp"
#include "python/engine/named.hpp"
#include "python/engine/runtime.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/machine/large_pages.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/select_indices.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/mesh/mechanics/odd_length.hpp>
#include <ossatura/core/mesh/turned_top.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>
#include <ossatura/solvers/topopt/part/hinges.hpp>
#include <ossatura/solvers/topopt/part/remaining_parts.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>

namespace ossatura::python {

namespace {

DesignProblem copy_problem(const DesignInput& input) {
  DesignProblem problem;
  problem.mesh.shape = ElementShape::hexa;
  problem.mesh.point = copy_in_large_pages(input.point, 3 * std::size_t(input.num_points));
  problem.mesh.node = copy_in_large_pages(input.node, 8 * std::size_t(input.num_elem));
  problem.young = input.young;
  problem.poisson = input.poisson;
  const auto num_points = std::size_t(input.num_points);
  for (const std::int32_t i :
       select_indices(num_points, [&](std::size_t k) { return input.held[k] != 0; }))
    problem.held.push_back({i, input.held[i]});
  for (const auto& [force, weight] : input.cases) {
    DesignLoadCase load;
    load.weight = weight;
    const double* const f = force; // no structured binding in a lambda of C++17
    for (const std::int32_t i : select_indices(num_points, [f](std::size_t k) {
           return f[3 * k] != 0 || f[3 * k + 1] != 0 || f[3 * k + 2] != 0;
         }))
      load.loads.forces.push_back({i, {f[3 * i], f[3 * i + 1], f[3 * i + 2]}});
    problem.cases.push_back(std::move(load));
  }
  if (input.role != nullptr)
    for (std::int64_t e = 0; e < input.num_elem; ++e)
      problem.role.push_back(DesignRole(input.role[e]));
  for (const auto& [axis, place] : input.mirrors)
    problem.mirrors.push_back({axis, place});
  return problem;
}

/// The first loaded node without an element that may have material, or -1.
std::int32_t find_load_on_void(const DesignProblem& problem) {
  std::vector<std::uint8_t> waits(problem.mesh.num_points(), 0);
  for (const DesignLoadCase& one : problem.cases)
    for (const NodeForce& force : one.loads.forces)
      waits[std::size_t(force.node)] = 1;
  std::vector<std::int32_t> found;
  std::mutex mutex;
  for_parts(problem.mesh.num_elem(), 1 << 14, [&](std::size_t first, std::size_t end) {
    std::vector<std::int32_t> of_part;
    for (std::size_t e = first; e < end; ++e)
      for (std::size_t k = 8 * e; k < 8 * (e + 1); ++k)
        if (waits[std::size_t(problem.mesh.node[k])] != 0 &&
            (problem.role.empty() || problem.role[e] != DesignRole::void_))
          of_part.push_back(problem.mesh.node[k]);
    const std::lock_guard<std::mutex> lock(mutex);
    found.insert(found.end(), of_part.begin(), of_part.end());
  });
  for (const std::int32_t node : found)
    waits[std::size_t(node)] = 0;
  const auto first = std::find(waits.begin(), waits.end(), 1);
  return first == waits.end() ? -1 : std::int32_t(first - waits.begin());
}

/// What the library leaves to its callers, of a mesh that it takes: what is wrong, or an empty
/// string.
std::string describe_fault(const DesignProblem& problem) {
  if (const auto twice = find_duplicate_element(problem.mesh.node, 8))
    return "hexa: element " + std::to_string(twice->second) + " has the same nodes as element " +
           std::to_string(twice->first) + ": it would count twice; remove one of the two";
  if (const std::string turned = describe_turned_top(problem.mesh); !turned.empty())
    return "hexa: " + turned;
  if (const std::int32_t node = find_load_on_void(problem); node >= 0)
    return "loads: node " + std::to_string(node) +
           " is loaded, but all of its elements are void: load others, or make these free or solid";
  const std::string motion = describe_free_motion(problem.mesh, problem.held);
  if (!motion.empty())
    return motion + ": hold more nodes or components";
  if (const std::optional<CutNode> cut = find_cut_node(problem))
    return "loads: void elements cut off what the load case " + std::to_string(cut->which) +
           " pushes at node " + std::to_string(cut->node) + ": nothing holds it there (" +
           cut->motions + "). Leave them free, or hold nodes on that side";
  if (const std::optional<LoadedHinge> hinge = find_loaded_hinge(problem))
    return "loads: what the load case " + std::to_string(hinge->which) +
           " pushes can turn about node " + std::to_string(hinge->node) +
           ", where elements that may have material touch others along an edge or in a corner "
           "alone, which is a hinge: join them by faces, or hold more nodes";
  return {};
}

/// Of forces on components that are held, of which the library refuses a load case of nothing else.
void warn_of_lost_loads(const DesignProblem& problem) {
  std::vector<std::uint8_t> held(problem.mesh.num_points(), 0);
  for (const HeldComponents& one : problem.held)
    held[std::size_t(one.node)] |= one.components;
  for (std::size_t number = 0; number < problem.cases.size(); ++number) {
    std::int64_t components = 0, lost = 0;
    std::int32_t first = -1;
    for (const NodeForce& force : problem.cases[number].loads.forces)
      for (int c = 0; c < 3; ++c) {
        if (force.force[c] == 0)
          continue;
        ++components;
        if ((held[std::size_t(force.node)] >> c & 1) != 0 && ++lost == 1)
          first = force.node;
      }
    if (lost > 0)
      log_warning("lost-load", "loads: ", lost, " of ", components, " components of load case ",
                  number, " act where the body is held, and do nothing (node ", first,
                  " is the first)");
  }
}

void warn_of_length(const DesignInput& input, const DesignProblem& problem) {
  if (input.says_unit)
    return;
  if (const auto length = find_odd_length(problem.bounds(), problem.young))
    log_warning("odd-size", "points: the body is ", *length,
                " m long, for lengths are in m where nothing says otherwise: of a mesh in mm give "
                "unit=0.001, of one as long as that unit=1");
}

bool has_nodes_in_range(const ElementMesh& mesh) {
  std::atomic<bool> is_right = true;
  for_parts(mesh.node.size(), 1 << 16, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k)
      if (mesh.node[k] < 0 || std::size_t(mesh.node[k]) >= mesh.num_points())
        is_right = false;
  });
  return is_right;
}

/// The optimiser of a problem, which is checked meanwhile.
template<class Exec>
std::unique_ptr<DesignOptimizer<Exec>>
make_optimizer(const Exec& exec, const DesignProblem& problem, const DesignOptions& options) {
  struct Findings {
    std::string fault, doubt;
  };
  std::future<Findings> findings;
  if (has_nodes_in_range(problem.mesh)) // else the library says which is not
    findings = std::async([&problem] {
      unbind_thread();
      return Findings{describe_fault(problem),
                      describe_coincident(find_coincident_nodes(problem.mesh))};
    });
  auto optimizer = std::make_unique<DesignOptimizer<Exec>>(exec, problem, options);
  const Findings found = findings.valid() ? findings.get() : Findings();
  if (!found.fault.empty())
    fail<InputError>(found.fault);
  if (!found.doubt.empty())
    log_warning("split-mesh", "hexa: ", found.doubt);
  warn_of_lost_loads(problem);
  return optimizer;
}

DesignOptions library_options(const DesignChoice& choice) {
  DesignOptions options;
  options.volume_fraction = choice.volume;
  options.radius = choice.radius;
  options.min_modulus = choice.min_modulus;
  options.move = choice.move;
  options.multiplier_tolerance = choice.multiplier_tolerance;
  options.change_tolerance = choice.change_tolerance;
  options.penalty = {choice.penalty[0], choice.penalty[1], int(choice.penalty[2]), 1,
                     choice.penalty[3]};
  options.filter = named<DesignFilter>(choice.filter, "filter");
  options.method = named<DesignMethod>(choice.method, "method");
  options.max_steps = choice.max_steps;
  options.solver.cg.tolerance = choice.tolerance;
  options.step_tolerance = choice.step_tolerance;
  options.solver.cg.max_iterations = choice.max_iterations;
  return options;
}

DesignNumbers numbers_of(const DesignStep& step) {
  DesignNumbers numbers;
  numbers.number = step.number;
  numbers.objective = step.objective;
  numbers.volume = step.volume;
  numbers.grey = step.grey;
  numbers.change = step.change;
  numbers.penalty = step.penalty;
  numbers.cases = step.cases;
  for (const SolveResult& solve : step.solves)
    numbers.iterations.push_back(solve.iterations);
  return numbers;
}

template<class Exec>
class ModelOn : public DesignModel, Holder {
public:
  ModelOn(const Exec& exec, const DesignInput& input, const DesignChoice& choice)
      : exec_(exec)
      , num_cases_(int(input.cases.size())) {
    DesignProblem problem = copy_problem(input);
    optimizer_ = make_optimizer(exec, problem, library_options(choice));
    warn_of_length(input, problem);
    mesh_ = std::move(problem.mesh);
  }
  void drop() noexcept override { optimizer_.reset(); }

  std::int64_t num_elem() const override { return std::int64_t(mesh_.num_elem()); }
  std::int64_t num_points() const override { return std::int64_t(mesh_.num_points()); }
  const double* points() const override { return mesh_.point.data(); }
  const std::int32_t* hexa() const override { return mesh_.node.data(); }
  double radius() const override { return optimizer_->radius(); }
  bool is_done() const override { return optimizer_->is_done(); }
  bool has_converged() const override { return optimizer_->has_converged(); }

  DesignNumbers step() override {
    return whole([&] { return numbers_of(optimizer_->step(exec_)); });
  }

  DesignNumbers analyse(const double* x, double* objective_gradient,
                        double* volume_gradient) override {
    return whole([&] {
      if (x != nullptr)
        optimizer_->set_variables(exec_, array_of(exec_, x, num_elem()));
      const DesignNumbers numbers = numbers_of(optimizer_->analyse(exec_));
      write_elements(objective_gradient,
                     [&](const auto& result) { optimizer_->objective_gradient(exec_, result); });
      write_elements(volume_gradient,
                     [&](const auto& result) { optimizer_->volume_gradient(exec_, result); });
      return numbers;
    });
  }

  void set_variables(const double* x) override {
    require_whole();
    optimizer_->set_variables(exec_, array_of(exec_, x, num_elem()));
  }
  void densities(double* out) const override {
    write_elements(out, [&](const auto& result) { optimizer_->densities(exec_, result); });
  }
  void variables(double* out) const override {
    write_elements(out, [&](const auto& result) { optimizer_->variables(exec_, result); });
  }
  void energies(double* out) const override {
    write_elements(out, [&](const auto& result) { optimizer_->energies(exec_, result); });
  }
  void displacement(int which, double* out) const override {
    if (which < 0 || which >= num_cases_)
      fail<UsageError>("load case ", which, ": there are ", num_cases_, ", from 0");
    write_array(exec_, out, 3 * num_points(),
                [&](const auto& result) { optimizer_->displacements(exec_, which, result); });
  }

private:
  Exec exec_;
  std::unique_ptr<DesignOptimizer<Exec>> optimizer_;
  ElementMesh mesh_; ///< for files and pictures
  int num_cases_;
  bool is_broken_ = false;

  template<class Fill>
  void write_elements(double* out, const Fill& fill) const {
    write_array(exec_, out, num_elem(), fill);
  }

  void require_whole() const {
    if (is_broken_)
      fail<UsageError>("a step of this optimiser was interrupted: make a new one");
  }

  /// call(), after which the design is whole; not so where a signal ended it in between.
  template<class Call>
  DesignNumbers whole(const Call& call) {
    require_whole();
    try {
      return call();
    } catch (const DesignBreakdown& error) {
      throw NotConverged(error.what());
    } catch (const Interrupted&) {
      is_broken_ = true;
      throw;
    }
  }
};

} // namespace

DesignModel::~DesignModel() = default;

std::unique_ptr<DesignModel> make_design(const std::string& backend, const DesignInput& input,
                                         const DesignChoice& choice) {
  return with_backend(backend, [&](const auto& exec) -> std::unique_ptr<DesignModel> {
    return std::make_unique<ModelOn<std::decay_t<decltype(exec)>>>(exec, input, choice);
  });
}

} // namespace ossatura::python
