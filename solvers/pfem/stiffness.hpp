// SPDX-License-Identifier: Apache-2.0
// These functions form the stiffness matrices of hierarchical hexahedra by any method.
#pragma once

#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>

#include <string>

namespace ossatura {

/// Whether a method can be had for these elements on this backend, and if not, why, in words.
struct MethodSupport {
  bool supported = true;
  std::string reason;
};
template<class Exec>
MethodSupport supports(const Exec& exec, StiffnessMethod method, const HexaBatch<Exec>& batch);

/// The fastest method for any elements: by the order, the backend and whether D varies by point.
template<class Exec>
StiffnessMethod choose_stiffness_method(const Exec& exec, const HexaBatch<Exec>& batch);

/// Matrices of the elements begin .. end - 1 of the batch, one behind the other, entries as
/// `storage` says. Elements are not checked here for positive Jacobians (making a batch does that).
/// Throws std::invalid_argument for a method that is not supported and for a `matrix` that is too
/// short. May return before the matrices are formed.
template<class Exec>
void form_stiffness(const Exec& exec, StiffnessMethod method, const HexaBatch<Exec>& batch,
                    MatrixStorage storage, std::int64_t begin, std::int64_t end,
                    const Array<double, Exec>& matrix);

} // namespace ossatura
