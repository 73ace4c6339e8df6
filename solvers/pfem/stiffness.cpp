// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/stiffness/affine.hpp>
#include <ossatura/kernels/pfem/stiffness/blocked.hpp>
#include <ossatura/kernels/pfem/stiffness/congruent.hpp>
#include <ossatura/kernels/pfem/stiffness/published/aii.hpp>
#include <ossatura/kernels/pfem/stiffness/sum_factorised.hpp>
#include <ossatura/kernels/pfem/stiffness/tensor_cores.hpp>

namespace ossatura {

// Instantiated in sum_factorised_stiffness.cpp.
#define OSSATURA_INSTANTIATED(Exec)                                                                \
  extern template void form_sum_factorised<Exec>(const Exec&, const HexaBatch<Exec>&,              \
                                                 MatrixStorage, std::int64_t, std::int64_t,        \
                                                 const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATED)

namespace {

/// Why the elements begin .. end - 1 cannot have a method; empty if they can.
template<class Exec>
std::string obstacle(const Exec& exec, StiffnessMethod method, const HexaBatch<Exec>& batch,
                     std::int64_t begin, std::int64_t end) {
  switch (method) {
  case StiffnessMethod::affine:
  case StiffnessMethod::congruent:
    if (!batch.is_trilinear())
      return "elements are curved";
    if (batch.point_stride != 0)
      return "the elasticity varies within elements";
    if (method == StiffnessMethod::affine) {
      const std::int64_t bent = find_not_affine(exec, batch, begin, end);
      if (bent < end)
        return "element " + std::to_string(download(exec, batch.elem)[std::size_t(bent)]) +
               " is no parallelepiped";
    }
    return {};
  case StiffnessMethod::sum_factorised:
    return sum_factorised_obstacle(exec, batch);
  case StiffnessMethod::tensor_cores:
    return tensor_core_obstacle(exec, batch);
  default:
    return {};
  }
}

} // namespace

template<class Exec>
MethodSupport supports(const Exec& exec, StiffnessMethod method, const HexaBatch<Exec>& batch) {
  const std::string reason = obstacle(exec, method, batch, 0, batch.num_elem);
  return {reason.empty(), reason};
}

template<class Exec>
StiffnessMethod choose_stiffness_method(const Exec& exec, const HexaBatch<Exec>& batch) {
  if (BackendTraits<Exec>::is_device) {
    if (batch.order == 1 && batch.point_stride == 0)
      return StiffnessMethod::blocked;
    if (tensor_core_obstacle(exec, batch).empty())
      return StiffnessMethod::tensor_cores;
    // Sums with another number of points are loops that know it at run time only.
    const bool known = batch.points == batch.order + 1;
    return (!known && batch.order <= 5) || !sum_factorised_obstacle(exec, batch).empty()
               ? StiffnessMethod::blocked
               : StiffnessMethod::sum_factorised;
  }
  return StiffnessMethod::sum_factorised; // on cores, by measurement
}

template<class Exec>
void form_stiffness(const Exec& exec, StiffnessMethod method, const HexaBatch<Exec>& batch,
                    MatrixStorage storage, std::int64_t begin, std::int64_t end,
                    const Array<double, Exec>& matrix) {
  OSSATURA_REQUIRE(begin >= 0 && begin <= end && end <= batch.num_elem,
                   "form_stiffness: elements " << begin << " .. " << end << " of "
                                               << batch.num_elem);
  const std::int64_t entries = (end - begin) * matrix_entries(storage, batch.num_dofs());
  OSSATURA_REQUIRE(std::int64_t(matrix.extent(0)) >= entries,
                   "form_stiffness: an array of " << matrix.extent(0) << " for matrices of "
                                                  << entries << " entries");
  if (begin == end)
    return;
  if (method == StiffnessMethod::automatic)
    method = choose_stiffness_method(exec, batch);
  const std::string reason = obstacle(exec, method, batch, begin, end);
  OSSATURA_REQUIRE(reason.empty(), "form_stiffness: " << name_of(method) << ": " << reason);
  switch (method) {
  case StiffnessMethod::ai:
    return form_ai(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::ai_inner:
    return form_ai_inner(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::aii:
    return form_aii(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::aii_inner:
    return form_aii_inner(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::affine:
    return form_affine(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::congruent:
    return form_congruent(exec, batch, storage, begin, end, matrix,
                          [&](const HexaBatch<Exec>& few, std::int64_t first, std::int64_t last,
                              const Array<double, Exec>& to) {
                            form_stiffness(exec, StiffnessMethod::automatic, few, storage, first,
                                           last, to);
                          });
  case StiffnessMethod::sum_factorised:
    return form_sum_factorised(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::tensor_cores:
    return form_tensor_cores(exec, batch, storage, begin, end, matrix);
  case StiffnessMethod::automatic: // resolved above
  case StiffnessMethod::blocked:
    return form_blocked(exec, batch, storage, begin, end, matrix);
  }
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template MethodSupport supports<Exec>(const Exec&, StiffnessMethod, const HexaBatch<Exec>&);     \
  template StiffnessMethod choose_stiffness_method<Exec>(const Exec&, const HexaBatch<Exec>&);     \
  template void form_stiffness<Exec>(const Exec&, StiffnessMethod, const HexaBatch<Exec>&,         \
                                     MatrixStorage, std::int64_t, std::int64_t,                    \
                                     const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE
#undef OSSATURA_INSTANTIATED

} // namespace ossatura
