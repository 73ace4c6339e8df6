// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/mix_bits.hpp>
#include <ossatura/kernels/topopt/design_variables.hpp>
#include <ossatura/kernels/topopt/frequencies/vibrating_mass.hpp>
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/lobpcg.hpp>
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
  std::unique_ptr<MassMatrix<Exec>> matrix;
  Array<double, Exec> mass; ///< [num_elem] kg / m^3

  using Vector = Array<double, Exec>;
  void apply_stiffness(const Exec& exec, const Vector& x, const Vector& y) const {
    body.apply(exec, x, y);
    body.make_admissible(exec, y);
  }
  void apply_mass(const Exec& exec, const Vector& x, const Vector& y) const {
    matrix->apply(exec, mass, x, y);
    body.make_admissible(exec, y);
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
        CgVectors<Exec, double, double, double>{x, r, work[1], work[2], r});
  }
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
  OSSATURA_REQUIRE(problem.mirrors.empty(),
                   "natural frequencies of a half are those of its symmetric modes alone, and the "
                   "lowest of the whole may be another: model the whole body, without mirrors");
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
struct DesignFrequencies<Exec>::Solver {
  DesignPencil<Exec> pencil;
  Lobpcg<Exec, DesignPencil<Exec>> lobpcg;

  Solver(const Exec& exec, const DesignBody<Exec>& body, std::unique_ptr<MassMatrix<Exec>> matrix,
         const Vector& mass, int block)
      : pencil{body, std::move(matrix), mass}
      , lobpcg(exec, pencil, block, body.num_dofs()) {}
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
    , max_iterations_(options.solver.cg.max_iterations) {
  require_frequencies(problem, options);
  if (count_ == 0)
    return;
  const TimedScope scope("ossatura::frequencies::setup");
  block_ = block_of_frequencies(count_);
  mass_density_ =
      body.upload_elements(exec, mass_densities(problem, "natural frequencies are of mass"));
  mass_ = make_zeros<double>(exec, body.num_elem(), "ossatura::frequencies::mass");
  work_ = make_zeros<double>(exec, body.num_elem(), "ossatura::frequencies::work");
  modes_ = make_many_vectors(exec, block_, body.num_dofs(), "ossatura::frequencies::modes");
  trial_ = make_many_vectors(exec, block_, body.num_dofs(), "ossatura::frequencies::trial");
  solver_ = std::make_unique<Solver>(exec, body, body.make_mass(exec, problem), mass_, block_);
}

template<class Exec>
DesignFrequencies<Exec>::~DesignFrequencies() = default;

template<class Exec>
std::vector<Array<double, Exec>> DesignFrequencies<Exec>::starts() const {
  std::vector<Vector> all;
  for (int i = 0; is_held_to_ && i + 1 < block_; ++i) // the last one is made anew
    all.push_back(modes_.row(i));
  return all;
}

template<class Exec>
void DesignFrequencies<Exec>::run(const Exec& exec, int number, const Vector& density,
                                  DesignStep& step) {
  const TimedScope scope("ossatura::frequencies::run");
  const Stopwatch watch;
  fill_vibrating_masses(exec, mass_density_, density, mass_);
  const ManyVectors<Exec>& start = solver_->lobpcg.modes();
  // Modes of one symmetry lead to no others. A random vector has a part of each, so that a mode
  // that comes from above is found.
  for (int i = 0; i < block_; ++i) {
    const Vector row = start.row(i);
    Kokkos::deep_copy(exec, row, modes_.row(i));
    if (i + 1 < block_ && warm_start_ && dot(exec, row, row) > 0)
      continue;
    const Vector& random = trial_.row(0);
    Kokkos::parallel_for("ossatura::frequencies::random", range(exec, body_.num_dofs()),
                         FillRandomStart<Exec>{random, std::uint64_t(i)});
    body_.make_admissible(exec, random);
    solver_->pencil.apply_mass(exec, random, trial_.row(1));
    solver_->pencil.precondition(exec, trial_.row(1), row);
  }
  const LobpcgResult found = [&] {
    try {
      return solver_->lobpcg.solve(exec, {count_, tolerance_, max_iterations_});
    } catch (const std::invalid_argument& error) { // of the mass that the design has left
      fail<DesignBreakdown>("step ", number, ": natural frequencies: ", error.what());
    }
  }();
  SolveResult result;
  result.iterations = found.iterations;
  result.residual = result.recurrent_residual = found.worst_residual();
  result.converged = found.converged;
  step.solves.push_back(result);
  step.seconds_solve += watch.seconds();
  if (!found.converged)
    fail<DesignBreakdown>("step ", number, ": the ", count_,
                          " lowest natural frequencies did not converge, residual ",
                          result.residual, " after ", found.iterations, " iterations (tolerance ",
                          tolerance_,
                          "): a larger tolerance or least modulus, more frequencies "
                          "where many are alike, or more iterations");
  for (int i = 0; i < block_; ++i)
    Kokkos::deep_copy(exec, trial_.row(i), start.row(i));
  kept_ = inverse_;
  inverse_.clear();
  step.frequencies.clear();
  for (const double lambda : found.value) {
    inverse_.push_back(1 / lambda);
    step.frequencies.push_back(frequency_of(1 / lambda));
  }
  step.frequency_residuals = found.residual;
  std::swap(modes_, trial_);
}

template<class Exec>
void DesignFrequencies<Exec>::revert() {
  std::swap(modes_, trial_);
  inverse_ = kept_;
}

template<class Exec>
double DesignFrequencies<Exec>::lowest() const {
  return frequency_of(inverse_.at(0));
}

template<class Exec>
double DesignFrequencies<Exec>::inverse_norm() const {
  double sum = 0; // of parts, since powers of s^2 are out of range
  for (const double one : inverse_)
    sum += std::pow(one / inverse_.at(0), norm_power);
  return inverse_.at(0) * std::pow(sum, 1 / norm_power);
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
  for (int i = 0; i < count_; ++i) {
    const double inverse = inverse_[std::size_t(i)];
    const double weight = factor * std::pow(inverse / norm, norm_power - 1);
    const Vector x = modes_.row(i);
    body_.add_energies(exec, -weight * inverse, x, x, gradient);
    solver_->pencil.matrix->add_energies(exec, weight, x, work_);
  }
  scale_by_slope(exec, law, density, 1, gradient);
  add_vibrating_slope(exec, mass_density_, density, work_, gradient);
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignFrequencies<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
