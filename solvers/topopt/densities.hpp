// SPDX-License-Identifier: Apache-2.0
// DesignDensities turns the variables of a design into its physical densities, and gradients back:
// by links between elements, filter, projection, what a process makes of them, and roles of
// elements. With links L, before the filter and after it, the densities are P(H(L F L x)).
//
// A robust design [1] has three of the same filtered densities: that which is made, an eroded one,
// of a larger threshold of the projection, and a dilated one, of a smaller. The compliance is that
// of the eroded one, the largest of the three; the volume is limited for the dilated one. What is
// too thin to be there when it is eroded carries nothing, and a gap that dilation closes saves
// nothing, so that members and gaps are of some size.
//
// [1] F. Wang, B. Lazarov, O. Sigmund. On projection methods, convergence and robust formulations
//     in topology optimization. Struct. Multidiscip. Optim. 43 (2011) 767-784,
//     doi:10.1007/s00158-010-0602-y.
#pragma once

#include <ossatura/kernels/topopt/design_variables.hpp>
#include <ossatura/kernels/topopt/tanh_projection.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

#include <memory>

namespace ossatura {

/// Densities depend on this besides variables; errors name the step.
struct DesignMoment {
  int step;
  double sharpness; ///< of the projection, or of heights
};

/// Vectors are [num_elem] in the order of the body. Functions throw DesignBreakdown where the
/// Helmholtz filter does not converge.
template<class Exec>
class DesignDensities {
public:
  using Vector = Array<double, Exec>;

  /// Throws std::invalid_argument for bad roles and mirrors, a radius that reaches no
  /// neighbour or across the whole body, and a process that does not suit the body.
  DesignDensities(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                  const DesignBody<Exec>& body);

  /// The variable of all free elements to start with, unless it is an option: that which makes the
  /// volume the fraction. Throws std::invalid_argument where there is none.
  double first(const Exec& exec) const;
  /// The mean density that free elements may have, at most 1. Throws std::invalid_argument where
  /// there is none.
  double allowed(const Exec& exec) const;

  /// Fills densities, their sums and the gradient of the volume from the variables `x`. `scratch`
  /// is overwritten, here and below.
  void refresh(const Exec& exec, const Vector& x, const DesignMoment& moment,
               const Vector& scratch);

  /// The volume fraction of a design of other variables, where a projection or a process shapes
  /// densities. These are overwritten: they are of `x` until the next refresh.
  double volume_of(const Exec& exec, const Vector& x, const DesignMoment& moment);

  /// Makes a gradient of the objective by physical densities one by variables, in place; the
  /// sensitivity filter makes its mean of it.
  void pull_back(const Exec& exec, const Vector& x, const DesignMoment& moment,
                 const Vector& gradient, const Vector& scratch);

  const Array<std::uint8_t, Exec>& role() const { return role_; }
  double radius() const { return radius_; }          ///< of the filter
  const Vector& density() const { return density_; } ///< of the design that is made
  /// Of the one that is analysed in each step.
  const Vector& tested() const { return is_robust() ? eroded_ : density_; }
  /// Of limited_volume(), by variables, after a refresh at the same moment: made in `room`, with
  /// `scratch`, where the body saves memory. Does not fence.
  Vector volume_gradient(const Exec& exec, const DesignMoment& moment, const Vector& room,
                         const Vector& scratch) const;
  double volume() const { return sums_.volume / sums_.total_volume; } ///< fraction
  /// Of the dilated one of a robust design; else the same.
  double limited_volume() const { return is_robust() ? dilated_volume_ : volume(); }
  double grey() const { return sums_.grey / sums_.free_volume; }
  ProcessFaults process_faults(const Exec& exec) const; ///< of `density`; fences

private:
  void make_roles(const Exec& exec, const DesignProblem& problem, const DesignBody<Exec>& body);
  void make_process(const Exec& exec, const DesignProblem& problem, const DesignBody<Exec>& body);
  void make_filter(const Exec& exec, const DesignProblem& problem, const DesignBody<Exec>& body);
  void make_physical(const Exec& exec, const DesignMoment& moment);
  void make_robust(const Exec& exec, const DesignMoment& moment, const Vector& scratch);
  void chain(const Exec& exec, const TanhProjection& smooth_step, const DesignMoment& moment,
             const Vector& gradient, const Vector& scratch) const;
  void fill_volume_gradient(const Exec& exec, const DesignMoment& moment, const Vector& result,
                            const Vector& scratch) const;
  bool filters_densities() const {
    return options_.filter == DesignFilter::density || options_.filter == DesignFilter::helmholtz;
  }
  bool keeps_filtered() const {
    return options_.filter == DesignFilter::helmholtz ||
           (options_.filter == DesignFilter::density && options_.projection) ||
           (process_ && (options_.projection || options_.process.shapes()));
  }
  bool depends_on_design() const { return options_.projection || options_.process.shapes(); }
  /// What a process that shapes makes densities of.
  const Vector& blueprint() const { return options_.projection ? projected_ : filtered_; }
  bool is_robust() const { return options_.robust > 0; }
  /// `more`: of the threshold, options_.robust times 1, of the eroded design, to -1.
  TanhProjection projection(const DesignMoment& moment, int more = 0) const {
    return {moment.sharpness, options_.threshold + more * options_.robust};
  }

  DesignOptions options_;
  std::int64_t num_elem_;
  ElementVolumes<Exec> element_volume_;
  Array<std::uint8_t, Exec> role_;
  double radius_ = 0;
  std::unique_ptr<ElementFilter<Exec>> filter_;   ///< null: none
  std::unique_ptr<ElementProcess<Exec>> process_; ///< null: none
  Vector
      filtered_; ///< where it is no other vector: Helmholtz filters may fail, projections need it
  Vector projected_; ///< of overhang with a projection alone
  Vector density_;
  Vector eroded_;             ///< of robust designs alone
  double dilated_volume_ = 0; ///< fraction, likewise
  bool keeps_dv_; ///< the gradient of the volume, which depends on no x without projection, draw
                  ///< and overhang
  Vector dv_;
  bool dv_known_ = false;
  DesignSums sums_; ///< of `density_`
};

} // namespace ossatura
