// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/contact/rounds.hpp>

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/elements/motion.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ossatura {

namespace {

/// How many iterations take a core as long as making the factor and the compliance from it. Dense
/// products run some nine times as fast as the applications of L, which wait for memory.
double iterations_of_factor(const FactorPattern& pattern) {
  constexpr double rate = 9;
  double flops = 0;
  for (int s = 0; s < pattern.num_panels(); ++s)
    for (int k = 0; k < 3 * pattern.width(s); ++k)
      flops += std::pow(3 * pattern.height(s) - k, 2);
  return flops / (rate * 4 * double(pattern.begin.back()));
}

} // namespace

template<class Exec>
ContactRounds<Exec>::ContactRounds(const Exec& exec, const SoftScene& scene,
                                   SoftSystems<Exec>& systems)
    : systems_(systems)
    , contact_(exec, scene, systems.numbering.node_of, systems.options)
    , correction_(systems.product.get()) {
  OSSATURA_REQUIRE(systems.by_factor, "contact needs the factor: preconditioner ldlt");
  for (const SoftObject& object : scene.objects) {
    const Box box = bounding_box(object.mesh.point);
    for (std::size_t d = 0; d < 3; ++d)
      longest_body_ = std::max(longest_body_, box[d + 3] - box[d]);
  }
  const FactorPattern& pattern = systems.numbering.pattern;
  const FactorRefreshing<Exec>& factor = *systems.by_factor;
  const std::int64_t n = 3 * std::int64_t(pattern.num_nodes);
  for (Vector* vector : {&force_, &free_motion_, &free_velocity_, &free_residual_, &change_})
    *vector = make_zeros<double>(exec, n, "ossatura::contact_rounds::vector");
  if constexpr (!BackendTraits<Exec>::is_device) {
    nodes_ = std::make_unique<NodeCompliance<Exec>>(pattern);
    factor_worth_ = iterations_of_factor(pattern);
  } else if (systems.by_factor->preconditioner().num_bands() != 1) {
    inverse_ = std::make_unique<InversePreconditioner<Exec, float>>(
        exec, pattern, make_inverse_layout(pattern), factor.made().factor.pattern, factor.warp(),
        false);
    for (Vector* vector : {&inverse_at_, &inverse_velocity_})
      *vector = make_zeros<double>(exec, n, "ossatura::contact_rounds::inverse_at");
    if (systems.options.warp)
      for (Vector* rotation : {&made_at_, &warp_})
        *rotation = make_zeros<double>(exec, 3 * n, "ossatura::contact_rounds::rotation");
  }
}

/// A sweep costs the square of the number of pairs, and a step has thousands of sweeps: some 1000
/// pairs take a core a minute. More are right where many nodes touch, not where nodes are through
/// their targets, farther than a body is long.
template<class Exec>
void ContactRounds<Exec>::refuse_endless(const Exec& exec, const ContactMotion<Exec>& motion,
                                         int num_pairs) const {
  constexpr int most_pairs = BackendTraits<Exec>::is_device ? 16000 : 1000;
  if (num_pairs <= most_pairs)
    return;
  const std::vector<double> x = download(exec, motion.x), x_new = download(exec, motion.x_new);
  double largest = 0;
  for (std::size_t i = 0; i + 2 < x.size(); i += 3)
    largest = std::max(
        largest, std::hypot(x_new[i] - x[i], x_new[i + 1] - x[i + 1], x_new[i + 2] - x[i + 2]));
  if (!(largest > longest_body_))
    return;
  std::ostringstream text;
  text << "within the step nodes would move by " << largest << " m, and the longest body has "
       << longest_body_ << " m: they are through what they meet, and contact of " << num_pairs
       << " pairs at a time would take hours: take a much smaller time step, or see whether "
          "gravity (m/s2), velocities (m/s), forces (N) and lengths (m) are in their units";
  throw SoftBreakdown(text.str());
}

/// cg.b = what is left of A a = b + force at a = (that of the free motion) + change_.
template<class Exec>
double ContactRounds<Exec>::balance(const Exec& exec) {
  ResidentCg<Exec>& cg = systems_.cg;
  multiply(exec, systems_.system.matrix(), change_, cg.q);
  Kokkos::deep_copy(exec, cg.b, free_residual_);
  axpby(exec, 1., force_, 1., cg.b);
  axpby(exec, -1., cg.q, 1., cg.b);
  return std::sqrt(dot(exec, cg.b, cg.b));
}

template<class Exec>
bool ContactRounds<Exec>::resolve(const Exec& exec, double h, const ContactMotion<Exec>& motion,
                                  SoftStep& report) {
  const Vector &x = motion.x, &x_trial = motion.x_new, &v_trial = motion.v_new;
  const SoftOptions& options = systems_.options;
  ResidentCg<Exec>& cg = systems_.cg;
  const Vector& matrix_at = motion.matrix_at;
  const int num_pairs = contact_.detect(exec, x, x_trial);
  report.contacts = std::max(report.contacts, num_pairs);
  presses_ = num_pairs > 0;
  if (!presses_)
    return true;
  refuse_endless(exec, motion, num_pairs);
  Kokkos::deep_copy(exec, free_motion_, x_trial);
  Kokkos::deep_copy(exec, free_velocity_, v_trial);
  multiply(exec, systems_.system.matrix(), cg.x, free_residual_);
  axpby(exec, 1., cg.b, -1., free_residual_);
  Kokkos::deep_copy(exec, change_, 0.0);
  // A compliance that is not of this step's matrix is wrong by some per cent, so that more digits
  // of a round's forces and motions are not worth their sweeps and iterations.
  const double digits = 1e-2;
  ContactResult sweeps = solve(exec, h * h, x);
  double left = balance(exec), last_residual = HUGE_VAL;
  ContactState state;
  bool solved = true;
  int round = 1;
  for (;; ++round) {
    ++report.contact_rounds;
    report.contact_sweeps += sweeps.iterations;
    if (left > 0) {
      const double tolerance = compliance_is_exact() ? std::min(options.tolerance, digits) : digits;
      const SolveResult correcting =
          systems_.solve(exec, correction_, matrix_at, tolerance, report);
      if (correcting.broken)
        return false;
      solved = solved && correcting.converged;
      axpby(exec, 1., cg.x, 1., change_);
    }
    move_nodes(exec, h, x, free_velocity_, change_, v_trial, x_trial);
    left = balance(exec);
    const double whole = motion.free_norm + std::sqrt(dot(exec, force_, force_));
    report.residual = whole > 0 ? left / whole : 0;
    state = contact_.measure(exec, x, x_trial);
    const bool balanced = report.residual <= options.tolerance;
    if ((state.converged && balanced) || round == options.contact_rounds ||
        !std::isfinite(state.residual))
      break;
    if (state.converged)
      continue; // with the same forces
    if (sweeps.converged && round > 2 && state.residual > 0.5 * last_residual &&
        !compliance_is_exact()) {
      if (systems_.by_factor->staleness() > 0 && !systems_.refresh_now(exec, matrix_at, report))
        return false;
      inverse_factor_ = -1;
      renew(exec, h * h);
    }
    last_residual = state.residual;
    // Sweeps end by their change, which slow ones keep below what is left: more rounds want less.
    const double part = std::ldexp(0.5, -std::min(std::max(round - 8, 0), 10));
    sweeps = contact_.refine(exec, x, x_trial, force_,
                             std::max(part * options.contact_tolerance, 0.02 * state.residual));
    left = balance(exec);
  }
  constexpr int rounds_when_new = 4;
  lose_rounds(std::max(0, round - rounds_when_new));
  report.penetration = std::max(report.penetration, state.penetration);
  report.complementarity = std::max(report.complementarity, state.complementarity);
  report.friction = std::max(report.friction, state.friction);
  report.contact_residual = std::max(report.contact_residual, state.residual);
  report.contact_depth = std::max(report.contact_depth, state.depth);
  report.contact_converged = report.contact_converged && state.converged;
  // What the last forces left is not the systems' fault.
  const bool balanced = report.residual <= options.tolerance || (solved && !state.converged);
  report.systems_converged = report.systems_converged && balanced;
  return std::isfinite(state.residual);
}

template<class Exec>
bool ContactRounds<Exec>::tries_stale_factor() const {
  return nodes_ && contact_.num_pairs() > 0 && systems_.by_factor->staleness() > 0;
}

template<class Exec>
bool ContactRounds<Exec>::is_slower_than_factor(const SolveResult& tried) const {
  constexpr double with_contact = 4.5; ///< iterations of a step for one of its free motion
  constexpr double fresh = 3;          ///< iterations that are left with a factor of the step
  if (tried.converged)
    return false;
  const double digits = std::log(tried.residual) / std::max(1, tried.iterations);
  return !(digits < 0) ||
         with_contact * std::log(systems_.options.tolerance) / digits - fresh > factor_worth_;
}

/// Whether it is of the matrix of this step, but for rounding.
template<class Exec>
bool ContactRounds<Exec>::compliance_is_exact() const {
  return systems_.by_factor->staleness() == 0 && (!inverse_ || inverse_is_current());
}

/// An old factor costs rounds; when it cost more than a new factor, the next one is made fresh.
template<class Exec>
void ContactRounds<Exec>::lose_rounds(int lost) {
  constexpr int worth_of_factor = 20;
  rounds_lost_ += lost;
  wants_factor_ = rounds_lost_ > worth_of_factor;
}

template<class Exec>
void ContactRounds<Exec>::forget_factor() {
  inverse_factor_ = -1;
  rounds_lost_ = 0;
  wants_factor_ = false;
}

template<class Exec>
void ContactRounds<Exec>::form_inverse(const Exec& exec) {
  const FactorRefreshing<Exec>& factor = *systems_.by_factor;
  inverse_->prepare(exec, factor.made());
  if (systems_.options.warp)
    Kokkos::deep_copy(exec, made_at_, factor.rotation_of_factor());
  Kokkos::deep_copy(exec, inverse_at_, systems_.factor_at);
  Kokkos::deep_copy(exec, inverse_velocity_, systems_.factor_velocity);
  inverse_factor_ = factor.number();
}

/// Calls `use` with what contact takes the compliance from, and its warp.
template<class Exec>
template<class Use>
auto ContactRounds<Exec>::with_compliance(const Exec& exec, const Use& use) {
  FactorRefreshing<Exec>& factor = *systems_.by_factor;
  if constexpr (!BackendTraits<Exec>::is_device) {
    if (nodes_factor_ != factor.number())
      nodes_->use(factor.made().factor, factor.made().diagonal);
    nodes_factor_ = factor.number();
    (void)exec;
    return use(*nodes_, factor.warp());
  } else {
    if (inverse_ && inverse_factor_ < 0)
      form_inverse(exec);
    if (inverse_ && systems_.options.warp)
      relative_rotation(exec, factor.rotation(), made_at_, warp_);
    const Vector& warp = inverse_ ? warp_ : factor.warp();
    const FactorPreconditioner<Exec>& applied = inverse_ ? *inverse_ : factor.preconditioner();
    return std::visit([&](const auto* inverse) { return use(*inverse, warp); }, applied.inverse());
  }
}

template<class Exec>
ContactResult ContactRounds<Exec>::solve(const Exec& exec, double scale, const Vector& x) {
  return with_compliance(exec, [&](auto& from, const Vector& warp) {
    return contact_.solve(exec, from, scale, x, free_motion_, force_, warp,
                          compliance_is_exact() ? 0 : 1e-3);
  });
}

template<class Exec>
void ContactRounds<Exec>::renew(const Exec& exec, double scale) {
  with_compliance(exec,
                  [&](auto& from, const Vector& warp) { contact_.renew(exec, from, scale, warp); });
}

#define OSSATURA_INSTANTIATE(Exec) template class ContactRounds<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
