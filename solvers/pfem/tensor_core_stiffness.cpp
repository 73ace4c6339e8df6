// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/pfem/stiffness/chained_products.hpp>
#include <ossatura/kernels/pfem/stiffness/tensor_cores.hpp>

#include <memory>
#include <utility>

#if defined(KOKKOS_ENABLE_CUDA)

namespace ossatura {

namespace {

/// The plan of an order; made once, given back before Kokkos ends.
template<class Plan>
const Plan& plan_of(const Cuda& exec, HexaSpace space, ModeScaling scaling) {
  static std::unique_ptr<Plan> plans[2][2];
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
    plan = std::make_unique<Plan>(exec, space, scaling);
  }
  return *plan;
}

/// Bytes of scratch that a team takes.
template<int... p>
std::size_t scratch_bytes(HexaSpace space, int order, std::integer_sequence<int, p...>) {
  static std::size_t of_order[2][max_hexa_order + 1] = {}; // lists are long to make
  std::size_t& bytes = of_order[int(space)][order];
  if (bytes == 0) {
    const detail::TensorCoreShape shape = detail::tensor_core_shape(order);
    const int lists = detail::max_list_doubles(
        detail::make_tensor_core_schedule(space, order, shape.slots, shape.rows));
    ((order == p + 1 ? void(bytes = detail::TensorCorePlan<p + 1>::scratch_bytes(lists)) : void()),
     ...);
  }
  return bytes;
}

/// Whether all code has the instructions: multiply_8x8x4 leaves them out before 8.0.
bool has_instructions() {
#if defined(__CUDA_ARCH_LIST__) // ascending
  constexpr int architectures[] = {__CUDA_ARCH_LIST__};
  return architectures[0] >= 800;
#else
  return false;
#endif
}

/// Whether the code that this device runs has the products of chained_products.hpp.
bool has_large_products([[maybe_unused]] const Cuda& exec) {
  int chosen = 0;
#if defined(__CUDA_ARCH_LIST__) // ascending
  const cudaDeviceProp& device = exec.cuda_device_prop();
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture <= 100 * device.major + 10 * device.minor)
      chosen = architecture;
#endif
  return chosen >= 900;
}

/// Whether elements of an order are for chained products here.
template<int p>
bool takes_chained_products(const Cuda& exec) {
  if constexpr (detail::chained_shape(p).warps > 0)
    return has_large_products(exec) &&
           detail::ChainedPlan<p>::scratch_bytes <= max_wide_scratch(exec);
  else
    return false;
}

template<int... p>
bool takes_chained_products(const Cuda& exec, int order, std::integer_sequence<int, p...>) {
  return ((order == p + 1 && takes_chained_products<p + 1>(exec)) || ...);
}

template<int p>
void form_order(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
                std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix) {
  if constexpr (detail::chained_shape(p).warps > 0)
    if (takes_chained_products<p>(exec))
      return plan_of<detail::ChainedPlan<p>>(exec, batch.space, batch.scaling)
          .form(exec, batch, storage, begin, end, matrix);
  plan_of<detail::TensorCorePlan<p>>(exec, batch.space, batch.scaling)
      .form(exec, batch, storage, begin, end, matrix);
}

constexpr std::make_integer_sequence<int, max_hexa_order> orders;

template<int... p>
void form(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage, std::int64_t begin,
          std::int64_t end, const Array<double, Cuda>& matrix, std::integer_sequence<int, p...>) {
  ((batch.order == p + 1 ? form_order<p + 1>(exec, batch, storage, begin, end, matrix) : void()),
   ...);
}

} // namespace

template<>
std::string tensor_core_obstacle(const Cuda& exec, const HexaBatch<Cuda>& batch) {
  if (!has_instructions())
    return "the program is not compiled for compute capability 8.0 or later alone";
  if (batch.points != batch.order + 1)
    return "the rule is not that of order + 1 points";
  if (takes_chained_products(exec, batch.order, orders))
    return {};
  const std::size_t bytes = scratch_bytes(batch.space, batch.order, orders);
  if (bytes > max_wide_scratch(exec))
    return "order " + std::to_string(batch.order) + " takes " + std::to_string(bytes >> 10) +
           " KiB of shared memory, and the device has " +
           std::to_string(max_wide_scratch(exec) >> 10);
  return {};
}

template<>
void form_tensor_cores(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
                       std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix) {
  const std::string obstacle = tensor_core_obstacle(exec, batch);
  OSSATURA_REQUIRE(obstacle.empty(), "form_tensor_cores: " << obstacle);
  if (begin < end)
    form(exec, batch, storage, begin, end, matrix, orders);
}

} // namespace ossatura

#endif
