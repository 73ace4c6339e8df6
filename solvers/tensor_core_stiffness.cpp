// SPDX-License-Identifier: Apache-2.0
#include "kernels/stiffness_tensor_cores.hpp"

#include <memory>

#if defined(KOKKOS_ENABLE_CUDA)

namespace femura {

namespace {

/// The plan of an order; made once, given back before Kokkos ends.
template<int P>
const detail::TensorCorePlan<P>& plan_of(const Cuda& exec, HexaSpace space, ModeScaling scaling) {
  static std::unique_ptr<detail::TensorCorePlan<P>> plans[2][2];
  auto& plan = plans[int(space)][int(scaling)];
  if (!plan) {
    static bool hooked = false;
    if (!hooked)
      Kokkos::push_finalize_hook([] {
        for (auto& of_space : plans)
          for (auto& one : of_space)
            one.reset();
        hooked = false;
      });
    hooked = true;
    plan = std::make_unique<detail::TensorCorePlan<P>>(exec, space, scaling);
  }
  return *plan;
}

template<int... p>
void form(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage, std::int64_t begin,
          std::int64_t end, const Array<double, Cuda>& matrix, std::integer_sequence<int, p...>) {
  ((batch.order == p + 1 ? plan_of<p + 1>(exec, batch.space, batch.scaling)
                               .form(exec, batch, storage, begin, end, matrix)
                         : void()),
   ...);
}

} // namespace

template<>
std::string tensor_core_obstacle(const Cuda& exec, const HexaBatch<Cuda>& batch) {
  if (exec.cuda_device_prop().major < 9)
    return "the device has not the scratch memory of compute capability 9";
  if (batch.points != batch.order + 1)
    return "the rule is not that of order + 1 points";
  return {};
}

template<>
void form_tensor_cores(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
                       std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix) {
  const std::string obstacle = tensor_core_obstacle(exec, batch);
  FEMURA_REQUIRE(obstacle.empty(), "form_tensor_cores: " << obstacle);
  if (begin < end)
    form(exec, batch, storage, begin, end, matrix,
         std::make_integer_sequence<int, max_hexa_order>());
}

} // namespace femura

#endif
