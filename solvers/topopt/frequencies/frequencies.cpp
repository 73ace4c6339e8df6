// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/mix_bits.hpp>
#include <ossatura/kernels/topopt/design_variables.hpp>
#include <ossatura/kernels/topopt/frequencies/vibrating_mass.hpp>
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/lobpcg.hpp>
#include <ossatura/solvers/topopt/frequencies/families.hpp>
#include <ossatura/solvers/topopt/loads.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr double norm_power = 8; // q

double frequency_of(double inverse) {
  return 1 / (2 * Kokkos::numbers::pi * std::sqrt(inverse));
}

/// Numbers of -0.5 .. 0.5 that depend on their place alone.
template<class Exec>
struct FillRandomStart {
  Array<double, Exec> x;
  std::uint64_t seed;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t bits =
        detail::mix_bits(detail::mix_bits(seed + 1) + detail::golden_step * std::uint64_t(i + 1));
    x(i) = double(bits >> 11) * 0x1p-53 - 0.5;
  }
};

template<class Exec>
struct DesignPencil {
  const DesignBody<Exec>& body;
  const MassMatrix<Exec>& matrix;
  Array<double, Exec> mass; ///< [num_elem] kg / m^3

  using Vector = Array<double, Exec>;
  void apply_stiffness(const Exec& exec, const Vector& x, const Vector& y) const {
    body.apply(exec, x, y);
    body.make_admissible(exec, y);
  }
  void apply_mass(const Exec& exec, int count, const Vector& x, const Vector& y) const {
    matrix.apply(exec, mass, count, x, y);
    const ManyVectors<Exec> all{y, body.num_dofs()};
    for (int j = 0; j < count; ++j)
      body.make_admissible(exec, all.row(j));
  }
  void precondition(const Exec& exec, const Vector& r, const Vector& z) const {
    body.precondition(exec, r, z);
  }
  /// By conjugate gradients, to a tenth.
  void solve(const Exec& exec, const Vector& b, const Vector& x) const {
    if (work.empty())
      for (int i = 0; i < 4; ++i)
        work.push_back(
            make_zeros<double>(exec, body.num_dofs(), "ossatura::frequencies::conjugate"));
    CgOptions options;
    options.tolerance = 0.1;
    options.max_iterations = 300;
    Kokkos::deep_copy(exec, x, 0.0);
    const Vector &r = work[0], &z = work[3];
    conjugate_gradients(
        exec, options, [&](const Vector& p, const Vector& q) { apply_stiffness(exec, p, q); },
        [&](const Vector& at, double scale, const Vector& left) {
          apply_stiffness(exec, at, left);
          axpby(exec, scale, b, -scale, left);
        },
        [&](const Vector& of) {
          precondition(exec, of, z);
          return z;
        },
        CgVectors<Exec, double, double, double>{x, r, work[1], work[2], r}, observe);
  }
  IterationObserver observe{};        ///< of solve()
  mutable std::vector<Vector> work{}; ///< of solve(), made when it is called
};

} // namespace

bool is_held_to_frequencies(const DesignProblem& problem, const DesignOptions& options) {
  return options.objective == DesignObjective::frequency ||
         std::any_of(problem.limits.begin(), problem.limits.end(),
                     [](const DesignLimit& one) { return one.kind == DesignLimitKind::frequency; });
}

int count_frequencies(const DesignProblem& problem, const DesignOptions& options) {
  if (options.frequencies > 0)
    return options.frequencies;
  return is_held_to_frequencies(problem, options) ? frequencies_of_designs : 0;
}

void require_frequencies(const DesignProblem& problem, const DesignOptions& options) {
  OSSATURA_REQUIRE(options.frequencies >= 0 && options.frequencies <= most_frequencies,
                   options.frequencies << " natural frequencies: 0 to " << most_frequencies);
  if (count_frequencies(problem, options) == 0)
    return;
  const std::string no_families = describe_no_families(problem);
  OSSATURA_REQUIRE(no_families.empty(), no_families);
  mass_densities(problem, "natural frequencies are of mass");
  if (options.objective != DesignObjective::frequency)
    return;
  OSSATURA_REQUIRE(options.method == DesignMethod::mma,
                   "optimality criteria take gradients of one sign, and those of frequencies have "
                   "both: take the method mma");
  OSSATURA_REQUIRE(options.filter != DesignFilter::sensitivity,
                   "the filter sensitivity is of gradients of one sign, and those of frequencies "
                   "have both: take the filter density");
}

template<class Exec>
struct DesignFrequencies<Exec>::Family {
  unsigned number;
  std::unique_ptr<DesignBody<Exec>> own; ///< null: the body of the design
  int wanted, block;
  DesignPencil<Exec> pencil;
  Lobpcg<Exec, DesignPencil<Exec>> lobpcg;
  ManyVectors<Exec> modes, trial; ///< [block, 3 num_nodes]

  Family(const Exec& exec, unsigned number_in, const DesignBody<Exec>& body,
         std::unique_ptr<DesignBody<Exec>> own_in, const MassMatrix<Exec>& matrix,
         const Vector& mass, int wanted_in)
      : number(number_in)
      , own(std::move(own_in))
      , wanted(wanted_in)
      , block(block_of_frequencies(wanted))
      , pencil{own ? *own : body, matrix, mass}
      , lobpcg(exec, pencil, block, body.num_dofs())
      , modes(make_many_vectors(exec, block, body.num_dofs(), "ossatura::frequencies::modes"))
      , trial(make_many_vectors(exec, block, body.num_dofs(), "ossatura::frequencies::trial")) {}
};

template<class Exec>
DesignFrequencies<Exec>::DesignFrequencies(const Exec& exec, const DesignProblem& problem,
                                           const DesignOptions& options,
                                           const DesignBody<Exec>& body)
    : body_(body)
    , count_(count_frequencies(problem, options))
    , is_held_to_(is_held_to_frequencies(problem, options))
    , warm_start_(options.warm_start)
    , tolerance_(options.solver.cg.tolerance)
    , max_iterations_(options.solver.cg.max_iterations)
    , has_mirrors_(!problem.mirrors.empty()) {
  require_frequencies(problem, options);
  if (count_ == 0)
    return;
  const TimedScope scope("ossatura::frequencies::setup");
  mass_density_ =
      body.upload_elements(exec, mass_densities(problem, "natural frequencies are of mass"));
  mass_ = make_zeros<double>(exec, body.num_elem(), "ossatura::frequencies::mass");
  work_ = make_zeros<double>(exec, body.num_elem(), "ossatura::frequencies::work");
  matrix_ = body.make_mass(exec, problem);
  make_families(exec, problem, options);
}

template<class Exec>
DesignFrequencies<Exec>::~DesignFrequencies() = default;

template<class Exec>
void DesignFrequencies<Exec>::make_families(const Exec& exec, const DesignProblem& problem,
                                            const DesignOptions& options) {
  families_.push_back(std::make_unique<Family>(exec, 0, body_, nullptr, *matrix_, mass_, count_));
  if (!has_mirrors_)
    return;
  DesignProblem held_otherwise = problem;
  held_otherwise.cases.clear();
  DesignOptions formed_anew = options;
  if (options.grid == DesignGrid::mesh && !problem.solids)
    formed_anew.solver.forming_cost = 0; // or a resumed run would need what levels are of
  for (unsigned number = 1; number < count_families(problem); ++number) {
    held_otherwise.held = held_in_family(problem, number);
    auto body = make_design_body(exec, held_otherwise, formed_anew);
    if (!problem.springs.empty())
      body->set_springs(exec, body->upload_nodes(exec, sum_springs(problem)));
    const std::int64_t num_free = body->num_dofs() - body->held().num_dofs;
    if (const int wanted = int(std::min<std::int64_t>(count_, num_free)); wanted > 0)
      families_.push_back(
          std::make_unique<Family>(exec, number, body_, std::move(body), *matrix_, mass_, wanted));
  }
}

template<class Exec>
std::vector<Array<double, Exec>> DesignFrequencies<Exec>::starts() const {
  std::vector<Vector> all;
  if (is_held_to_)
    for (const auto& family : families_)
      for (int i = 0; i + 1 < family->block; ++i) // the last one is made anew
        all.push_back(family->modes.row(i));
  return all;
}

template<class Exec>
void DesignFrequencies<Exec>::fill_starts(const Exec& exec, Family& family) const {
  const ManyVectors<Exec>& start = family.lobpcg.modes();
  // Modes of one symmetry lead to no others. A random vector has a part of each, so that a mode
  // that comes from above is found.
  for (int i = 0; i < family.block; ++i) {
    const Vector row = start.row(i);
    Kokkos::deep_copy(exec, row, family.modes.row(i));
    if (i + 1 < family.block && warm_start_ && dot(exec, row, row) > 0)
      continue;
    const Vector random = family.trial.row(0);
    Kokkos::parallel_for("ossatura::frequencies::random", range(exec, body_.num_dofs()),
                         FillRandomStart<Exec>{random, std::uint64_t(i)});
    family.pencil.body.make_admissible(exec, random);
    family.pencil.apply_mass(exec, 1, random,
                             family.trial.row(1)); // blocks have three rows at least
    family.pencil.precondition(exec, family.trial.row(1), row);
  }
}

template<class Exec>
void DesignFrequencies<Exec>::find(const Exec& exec, int number, std::size_t which,
                                   std::vector<Mode>& modes, DesignStep& step) {
  Family& family = *families_[which];
  fill_starts(exec, family);
  const LobpcgResult found = [&] {
    try {
      family.pencil.observe = body_.observer();
      return family.lobpcg.solve(exec, {family.wanted, tolerance_, max_iterations_},
                                 body_.observer());
    } catch (const std::invalid_argument& error) { // of the mass that the design has left
      fail<DesignBreakdown>("step ", number, ": natural frequencies: ", error.what());
    }
  }();
  SolveResult result;
  result.iterations = found.iterations;
  result.residual = result.recurrent_residual = found.worst_residual();
  result.converged = found.converged;
  step.solves.push_back(result);
  if (!found.converged)
    fail<DesignBreakdown>("step ", number, ": the ", family.wanted,
                          " lowest natural frequencies did not converge, residual ",
                          result.residual, " after ", found.iterations, " iterations (tolerance ",
                          tolerance_,
                          "): a larger tolerance or least modulus, more frequencies "
                          "where many are alike, or more iterations");
  for (int i = 0; i < family.block; ++i)
    Kokkos::deep_copy(exec, family.trial.row(i), family.lobpcg.modes().row(i));
  for (int i = 0; i < family.wanted; ++i)
    modes.push_back({1 / found.value[std::size_t(i)], found.residual[std::size_t(i)], which, i});
}

template<class Exec>
void DesignFrequencies<Exec>::run(const Exec& exec, int number, const SimpLaw& law,
                                  const Vector& density, DesignStep& step) {
  const TimedScope scope("ossatura::frequencies::run");
  const Stopwatch watch;
  fill_vibrating_masses(exec, mass_density_, density, mass_);
  std::vector<Mode> found;
  for (std::size_t i = 0; i < families_.size(); ++i) {
    if (DesignBody<Exec>* const own = families_[i]->own.get()) {
      own->set_modulus(exec, law, density);
      own->prepare(exec);
    }
    find(exec, number, i, found, step);
  }
  step.seconds_solve += watch.seconds();
  std::stable_sort(found.begin(), found.end(),
                   [](const Mode& one, const Mode& other) { return one.inverse > other.inverse; });
  found.resize(std::size_t(count_));
  for (const auto& family : families_)
    std::swap(family->modes, family->trial);
  kept_ = std::move(modes_);
  modes_ = std::move(found);
  step.frequencies.clear();
  step.frequency_residuals.clear();
  step.frequency_families.clear();
  for (const Mode& one : modes_) {
    step.frequencies.push_back(frequency_of(one.inverse));
    step.frequency_residuals.push_back(one.residual);
    if (has_mirrors_)
      step.frequency_families.push_back(families_[one.family]->number);
  }
}

template<class Exec>
void DesignFrequencies<Exec>::revert() {
  for (const auto& family : families_)
    std::swap(family->modes, family->trial);
  modes_ = kept_;
}

template<class Exec>
Array<double, Exec> DesignFrequencies<Exec>::mode(int which) const {
  const Mode& one = modes_.at(std::size_t(which));
  return families_[one.family]->modes.row(one.row);
}

template<class Exec>
double DesignFrequencies<Exec>::lowest() const {
  return frequency_of(modes_.at(0).inverse);
}

template<class Exec>
double DesignFrequencies<Exec>::inverse_norm() const {
  double sum = 0; // of parts, since powers of s^2 are out of range
  for (const Mode& one : modes_)
    sum += std::pow(one.inverse / modes_.at(0).inverse, norm_power);
  return modes_.at(0).inverse * std::pow(sum, 1 / norm_power);
}

template<class Exec>
double DesignFrequencies<Exec>::mean() const {
  return frequency_of(inverse_norm());
}

template<class Exec>
void DesignFrequencies<Exec>::differentiate(const Exec& exec, const SimpLaw& law,
                                            const Vector& density, const Vector& gradient) const {
  const TimedScope scope("ossatura::frequencies::differentiate");
  const double norm = inverse_norm();
  const double factor = -0.5 * mean() / norm; // df / dJ
  Kokkos::deep_copy(exec, gradient, 0.0);
  Kokkos::deep_copy(exec, work_, 0.0);
  for (int i = 0; i < num_modes(); ++i) {
    const double inverse = modes_[std::size_t(i)].inverse;
    const double weight = factor * std::pow(inverse / norm, norm_power - 1);
    const Vector x = mode(i);
    body_.add_energies(exec, -weight * inverse, x, x, gradient);
    matrix_->add_energies(exec, weight, x, work_);
  }
  scale_by_slope(exec, law, density, 1, gradient);
  add_vibrating_slope(exec, mass_density_, density, work_, gradient);
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignFrequencies<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
