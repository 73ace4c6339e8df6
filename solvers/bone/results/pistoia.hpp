// SPDX-License-Identifier: Apache-2.0
// Pistoia's criterion estimates the failure load of a bone from a linear analysis.
//
// [1] W. Pistoia, B. van Rietbergen, E.-M. Lochmueller, C. A. Lill, F. Eckstein, P. Rueegsegger.
//     Estimation of distal radius failure load with micro-finite element analysis models based on
//     three-dimensional peripheral quantitative computed tomography images. Bone 30 (2002) 842-848,
//     doi:10.1016/S8756-3282(02)00736-6.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/solvers/bone/results/test_response.hpp>

#include <optional>

namespace ossatura {

/// Per [1]: a bone fails when 2 % of its volume is strained beyond 7000 microstrain.
struct PistoiaOptions {
  double critical_strain = 0.007;
  double volume = 0.02; ///< part of the bone
};

struct PistoiaResult {
  double strain_at_volume = 0; ///< effective strain exceeded in that part, under the load analysed
  double factor = 0;           ///< the bone fails at this times the load analysed
};

/// `effective_strain` is sqrt(2 U / E) of each voxel, with strain energy density U and Young's
/// modulus E in the same unit. The quantile is interpolated between voxels (see quantiles()), which
/// is what FAIM prints. Empty where less than the critical volume is strained. Of voxels that the
/// ranks of `comm` share, all call it. Fences.
template<class Exec>
std::optional<PistoiaResult> pistoia(const Exec& exec, const Array<float, Exec>& effective_strain,
                                     const PistoiaOptions& options, const Communicator& comm = {});

/// The failure load after Pistoia.
struct FailureEstimate {
  PistoiaOptions criterion;
  PistoiaResult result;
  std::optional<double> force;  ///< N along the test's direction
  std::optional<double> moment; ///< N mm about the test's axis
};

/// The failure load of a specimen that gave `response`, or, without one, as under several forces,
/// the factor of its loads alone; `effective_strain` as pistoia() takes it.
template<class Exec>
std::optional<FailureEstimate>
estimate_failure(const Exec& exec, const Array<float, Exec>& effective_strain,
                 const std::optional<TestResponse>& response, const PistoiaOptions& criterion,
                 const Communicator& comm = {});

} // namespace ossatura
