// SPDX-License-Identifier: Apache-2.0
// Evaluations that several tests use: every kind of element on every backend takes a while to
// compile.
#include "tests/kernels/softbody/elements/soft_cases.hpp"
#include "tests/kernels/image/host_values.hpp"

namespace ossatura::test {

template<class Exec>
SoftResult evaluate(const Exec& exec, const SoftElements<Exec>& elements,
                    const std::vector<double>& positions, const std::vector<double>& velocities,
                    double force_scale, double stiffness_scale) {
  SoftResult result;
  result.nodes = nodes_per_elem(elements.shape);
  const auto x = upload(exec, "test::x", positions), v = upload(exec, "test::v", velocities);
  const std::int64_t n = elements.num_elem;
  const ElementSystem<Exec> system{
      make_uninitialized<double>(exec, n * result.nodes * 3, "test::force"),
      make_uninitialized<double>(exec, n * pairs_per_elem(elements.shape) * 9, "test::stiffness")};
  const auto inverted = make_zeros<int>(exec, 1, "test::inverted");
  evaluate_soft_elements(exec, elements, x, v, force_scale, stiffness_scale, system, inverted);
  exec.fence();
  result.force = host_values(system.force);
  result.stiffness = host_values(system.stiffness);
  result.inverted = host_values(inverted)[0];
  const Kokkos::View<double, Kokkos::SharedHostPinnedSpace> energy("test::energy");
  soft_energy(exec, elements, x, energy);
  exec.fence();
  result.energy = energy();
  return result;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template SoftResult evaluate(const Exec&, const SoftElements<Exec>&, const std::vector<double>&, \
                               const std::vector<double>&, double, double);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::test
