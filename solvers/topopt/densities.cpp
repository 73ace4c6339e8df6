// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/densities.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

MirrorPlanes mirror_planes(const DesignProblem& problem) {
  MirrorPlanes planes;
  const Box body = problem.bounds();
  for (const MirrorPlane& mirror : problem.mirrors) {
    OSSATURA_REQUIRE(mirror.axis >= 0 && mirror.axis < 3 && std::isfinite(mirror.place),
                     "a mirror normal to axis " << mirror.axis << " at " << mirror.place);
    const std::size_t axis = std::size_t(mirror.axis);
    const double low = std::min(mirror.place, body[axis]),
                 high = std::max(mirror.place, body[axis + 3]);
    OSSATURA_REQUIRE(std::min(mirror.place - low, high - mirror.place) <= 1e-6 * (high - low),
                     "the mirror normal to axis " << mirror.axis << " at " << mirror.place
                                                  << " cuts the body, which reaches from " << low
                                                  << " to " << high);
    int& count = planes.count[mirror.axis];
    OSSATURA_REQUIRE(count < 2, "more than two mirrors normal to axis " << mirror.axis);
    planes.place[mirror.axis][count++] = mirror.place;
  }
  return planes;
}

void check_filter(const SolveResult& result, const DesignMoment& moment) {
  if (!result.converged)
    fail<DesignBreakdown>("the Helmholtz filter of step ", moment.step,
                          " did not converge: residual ", result.residual, " after ",
                          result.iterations, " iterations: a smaller radius, or another filter");
}

} // namespace

template<class Exec>
DesignDensities<Exec>::DesignDensities(const Exec& exec, const DesignProblem& problem,
                                       const DesignOptions& options, const DesignBody<Exec>& body)
    : options_(options)
    , num_elem_(body.num_elem())
    , element_volume_(body.volume())
    , keeps_dv_(!body.lends_room()) {
  make_roles(exec, problem, body);
  if (options.process.any())
    make_process(exec, problem, body);
  make_filter(exec, problem, body);
  density_ = make_zeros<double>(exec, num_elem_, "ossatura::design::density");
  if (is_robust())
    eroded_ = make_zeros<double>(exec, num_elem_, "ossatura::design::eroded");
  if (keeps_dv_)
    dv_ = make_zeros<double>(exec, num_elem_, "ossatura::design::volume_gradient");
  if (keeps_filtered())
    filtered_ = make_zeros<double>(exec, num_elem_, "ossatura::design::filtered");
  if (options_.process.shapes() && options_.projection)
    projected_ = make_zeros<double>(exec, num_elem_, "ossatura::design::projected");
}

template<class Exec>
void DesignDensities<Exec>::make_roles(const Exec& exec, const DesignProblem& problem,
                                       const DesignBody<Exec>& body) {
  const std::size_t n = problem.num_elem();
  OSSATURA_REQUIRE(problem.role.empty() || problem.role.size() == n,
                   problem.role.size() << " roles of " << n << " elements");
  std::vector<std::uint8_t> value(n, std::uint8_t(DesignRole::free));
  for (std::size_t e = 0; e < problem.role.size(); ++e) {
    OSSATURA_REQUIRE(problem.role[e] <= DesignRole::void_, "element " << e << " without a role");
    value[e] = std::uint8_t(problem.role[e]);
  }
  role_ = body.upload_roles(exec, value);
}

template<class Exec>
void DesignDensities<Exec>::make_process(const Exec& exec, const DesignProblem& problem,
                                         const DesignBody<Exec>& body) {
  const DesignProcess& process = options_.process;
  if (process.draw && process.draw->parting) {
    const std::size_t axis = std::size_t(process.draw->direction.axis);
    const Box box = problem.bounds();
    const double place = *process.draw->parting, slack = 1e-2 * body.mean_edge();
    if (!(place > box[axis] + slack && place < box[axis + 3] - slack))
      fail<std::invalid_argument>("the parting plane ", "xyz"[axis], " = ", place,
                                  " m does not part the body, which reaches from ", box[axis],
                                  " to ", box[axis + 3], " m");
  }
  process_ = body.make_process(exec, problem, process, role_);
}

template<class Exec>
void DesignDensities<Exec>::make_filter(const Exec& exec, const DesignProblem& problem,
                                        const DesignBody<Exec>& body) {
  const MirrorPlanes mirrors = mirror_planes(problem);
  if (options_.filter == DesignFilter::none)
    return;
  radius_ = options_.radius > 0 ? options_.radius : 1.5 * body.mean_edge();
  const Box box = problem.bounds();
  const double length = std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
  if (options_.radius >= length)
    fail<std::invalid_argument>("the filter's radius of ", radius_,
                                " m reaches across the whole body, which is ", length,
                                " m long: it would make all densities the same");
  filter_ = body.make_filter(exec, options_.filter, radius_, mirrors);
  const bool by_equation = options_.filter == DesignFilter::helmholtz;
  if (!filter_->reaches_neighbours() && (by_equation || problem.num_elem() > 1))
    fail<std::invalid_argument>(
        "the filter's radius of ", radius_, " m ",
        by_equation ? "is below the size of the elements" : "reaches no element's neighbour",
        ": edges are of ", body.mean_edge(),
        " m in the mean. Without a filter that reaches neighbours designs are checkerboards: take "
        "1.5 edges or more, or the filter none");
}

template<class Exec>
double DesignDensities<Exec>::allowed(const Exec& exec) const {
  Kokkos::deep_copy(exec, density_, 0.0);
  set_passive(exec, role_, 1, 0, density_);
  const DesignSums passive = sum_design(exec, role_, element_volume_, density_);
  const double aim = options_.volume_fraction * passive.total_volume - passive.volume;
  OSSATURA_REQUIRE(passive.free_volume > 0, "no element is free");
  OSSATURA_REQUIRE(aim > 0, "solid elements are " << passive.volume / passive.total_volume
                                                  << " of the volume, the fraction is "
                                                  << options_.volume_fraction);
  return std::min(1.0, aim / passive.free_volume);
}

template<class Exec>
double DesignDensities<Exec>::first(const Exec& exec) const {
  const double made = allowed(exec);
  if (options_.start > 0)
    return options_.start;
  // Else the dilated design of a steep projection would be far from what it may have in the end.
  return is_robust() ? projection({0, options_.sharpness.start}).inverse(made) : made;
}

template<class Exec>
void DesignDensities<Exec>::refresh(const Exec& exec, const Vector& x, const DesignMoment& moment,
                                    const Vector& scratch) {
  const TimedScope scope("ossatura::design::filter");
  Vector linked = x;
  if (process_) {
    Kokkos::deep_copy(exec, scratch, x);
    process_->link(exec, role_, scratch);
    linked = scratch;
  }
  if (!keeps_filtered())
    filtered_ = filters_densities() ? density_ : linked;
  else if (!filters_densities())
    Kokkos::deep_copy(exec, filtered_, linked);
  if (filters_densities()) {
    check_filter(filter_->apply(exec, linked, filtered_), moment);
    if (process_)
      process_->link(exec, role_, filtered_);
  }
  make_physical(exec, moment);
  sums_ = sum_design(exec, role_, element_volume_, density_);
  if (is_robust())
    make_robust(exec, moment, scratch);
  if (keeps_dv_ && (!dv_known_ || depends_on_design())) { // else all maps are linear: it stays
    fill_volume_gradient(exec, moment, dv_, scratch);
    dv_known_ = true;
  }
}

template<class Exec>
double DesignDensities<Exec>::volume_of(const Exec& exec, const Vector& x,
                                        const DesignMoment& moment) {
  const TimedScope scope("ossatura::design::filter");
  OSSATURA_REQUIRE(options_.shapes_volume(), "a volume that is none of its own");
  Kokkos::deep_copy(exec, density_, x); // which is room until it is made
  if (process_)
    process_->link(exec, role_, density_);
  if (filters_densities()) {
    check_filter(filter_->apply(exec, density_, filtered_), moment);
    if (process_)
      process_->link(exec, role_, filtered_);
  } else {
    Kokkos::deep_copy(exec, filtered_, density_);
  }
  make_physical(exec, moment);
  return sum_design(exec, role_, element_volume_, density_).volume / sums_.total_volume;
}

/// Of filtered densities.
template<class Exec>
void DesignDensities<Exec>::make_physical(const Exec& exec, const DesignMoment& moment) {
  const bool shapes = options_.process.shapes();
  if (options_.projection)
    project(exec, projection(moment), filtered_, shapes ? projected_ : density_);
  if (shapes)
    process_->shape(exec, moment.sharpness, role_, blueprint(), density_);
  else if (!options_.projection && filtered_.data() != density_.data())
    Kokkos::deep_copy(exec, density_, filtered_);
  set_passive(exec, role_, 1, 0, density_);
}

/// The eroded design, and the volume of the dilated one.
template<class Exec>
void DesignDensities<Exec>::make_robust(const Exec& exec, const DesignMoment& moment,
                                        const Vector& scratch) {
  project(exec, projection(moment, -1), filtered_, scratch);
  set_passive(exec, role_, 1, 0, scratch);
  dilated_volume_ = sum_design(exec, role_, element_volume_, scratch).volume / sums_.total_volume;
  project(exec, projection(moment, 1), filtered_, eroded_);
  set_passive(exec, role_, 1, 0, eroded_);
}

template<class Exec>
void DesignDensities<Exec>::fill_volume_gradient(const Exec& exec, const DesignMoment& moment,
                                                 const Vector& result,
                                                 const Vector& scratch) const {
  scale_volumes(exec, 1 / sums_.total_volume, element_volume_, result);
  chain(exec, projection(moment, -1), moment, result, scratch);
}

template<class Exec>
Array<double, Exec>
DesignDensities<Exec>::volume_gradient(const Exec& exec, const DesignMoment& moment,
                                       const Vector& room, const Vector& scratch) const {
  if (keeps_dv_)
    return dv_;
  fill_volume_gradient(exec, moment, room, scratch);
  return room;
}

template<class Exec>
void DesignDensities<Exec>::pull_back(const Exec& exec, const Vector& x, const DesignMoment& moment,
                                      const Vector& gradient, const Vector& scratch) {
  if (options_.filter == DesignFilter::sensitivity) {
    filter_->filter_sensitivities(exec, process_ ? density_ : x, gradient, scratch);
    Kokkos::deep_copy(exec, gradient, scratch);
    if (process_)
      process_->link_back(exec, role_, gradient);
    set_passive(exec, role_, 0, 0, gradient);
  } else {
    chain(exec, projection(moment, 1), moment, gradient, scratch);
  }
}

/// Makes a gradient by physical densities one by variables.
template<class Exec>
void DesignDensities<Exec>::chain(const Exec& exec, const TanhProjection& smooth_step,
                                  const DesignMoment& moment, const Vector& gradient,
                                  const Vector& scratch) const {
  set_passive(exec, role_, 0, 0, gradient);
  if (options_.process.shapes())
    process_->shape_back(exec, moment.sharpness, role_, blueprint(), density_, gradient);
  if (options_.projection)
    project_back(exec, smooth_step, filtered_, gradient);
  if (filters_densities()) {
    if (process_)
      process_->link_back(exec, role_, gradient);
    check_filter(filter_->apply_transposed(exec, gradient, scratch), moment);
    Kokkos::deep_copy(exec, gradient, scratch);
  }
  if (process_)
    process_->link_back(exec, role_, gradient);
  set_passive(exec, role_, 0, 0, gradient);
}

template<class Exec>
ProcessFaults DesignDensities<Exec>::process_faults(const Exec& exec) const {
  return process_ ? process_->find_faults(exec, role_, density_) : ProcessFaults();
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignDensities<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
