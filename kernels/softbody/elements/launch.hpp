// SPDX-License-Identifier: Apache-2.0
// These launches run the element maths. On cores a thread takes an element. On devices a team takes
// a few elements: threads first find rotations and stresses, one element each, then make one block
// each, and then all threads write the blocks in the order of memory, from scratch: the 16 MB of 20
// 000 tetrahedra are most of the work.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/softbody/elements/input.hpp>

#include <algorithm>

namespace ossatura::detail {

/// Where what is asked for goes: see ElementSystem.
struct SoftOutput {
  ArrayPointer<double> force, stiffness;
  ArrayPointer<int> inverted;

  KOKKOS_FORCEINLINE_FUNCTION void count(bool is_inverted) const {
    if (is_inverted)
      Kokkos::atomic_add(inverted.data, 1);
  }
};

template<class Element>
struct EvaluateElement {
  static constexpr int nodes = Element::nodes, pairs = pairs_per_elem(Element::shape);

  SoftInput input;
  SoftOutput output;

  KOKKOS_FUNCTION void operator()(std::int64_t elem) const {
    typename Element::State state;
    bool inverted;
    Element::prepare(input, int(elem), state, inverted);
    output.count(inverted);
    if constexpr (Element::points > 0) {
      for (int g = 0; g < Element::points; ++g)
        Element::prepare_point(input, g, state);
      for (int a = 0; a < nodes; ++a)
        Element::sum_force(state, a);
    }
    double* to = output.stiffness.data + elem * (9 * pairs);
    for (int a = 0; a < nodes; ++a) {
      for (int c = 0; c < 3; ++c)
        output.force((elem * nodes + a) * 3 + c) = state.force[a][c];
      for (int b = a; b < nodes; ++b, to += 9) {
        const Matrix3 k = Element::block(state, a, b);
        for (int i = 0; i < 9; ++i)
          to[i] = k(i / 3, i % 3);
      }
    }
  }
};

/// The number of elements that a team takes, and of its threads.
template<class Element>
struct ElementTeam {
  static constexpr bool has_points = Element::points > 0;
  static constexpr int elems = has_points ? 8 : 16, threads = has_points ? 96 : 64;
  static constexpr int nodes = Element::nodes, pairs = pairs_per_elem(Element::shape);
  /// Doubles; an odd distance keeps the threads of a warp off each other's banks.
  static constexpr int state_size = int(sizeof(typename Element::State) / sizeof(double)) | 1;
  static constexpr int scratch_bytes = elems * (state_size + 9 * pairs) * int(sizeof(double));
};

template<class Exec, class Element>
struct EvaluateElementTeam {
  using Team = ElementTeam<Element>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Team::threads, 1>>;
  using Member = typename Policy::member_type;
  using State = typename Element::State;
  static constexpr int nodes = Team::nodes, pairs = Team::pairs;

  SoftInput input;
  SoftOutput output;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double* const states =
        static_cast<double*>(team.team_shmem().get_shmem_aligned(int(Team::scratch_bytes), 16));
    double* const blocks = states + Team::elems * Team::state_size;
    const auto state_of = [&](int e) -> State& {
      return *reinterpret_cast<State*>(states + e * Team::state_size);
    };
    const int rank = team.team_rank(), size = team.team_size();
    const int first = team.league_rank() * Team::elems;
    const int left = input.num_elem - first, num = Kokkos::min(int(Team::elems), left);

    for (int e = rank; e < num; e += size) {
      bool inverted;
      Element::prepare(input, first + e, state_of(e), inverted);
      output.count(inverted);
    }
    team.team_barrier();
    if constexpr (Element::points > 0) {
      for (int i = rank; i < num * Element::points; i += size)
        Element::prepare_point(input, i % Element::points, state_of(i / Element::points));
      team.team_barrier();
    }
    for (int i = rank; i < num * pairs; i += size) {
      int a = 0, b = i % pairs;
      while (b >= nodes - a)
        b -= nodes - a++;
      const Matrix3 k = Element::block(state_of(i / pairs), a, a + b);
      for (int c = 0; c < 9; ++c)
        blocks[9 * i + c] = k(c / 3, c % 3);
    }
    if constexpr (Element::points > 0)
      for (int i = rank; i < num * nodes; i += size)
        Element::sum_force(state_of(i / nodes), i % nodes);
    team.team_barrier();
    double* const stiffness = output.stiffness.data + std::int64_t(first) * (9 * pairs);
    for (int i = rank; i < num * 9 * pairs; i += size)
      stiffness[i] = blocks[i];
    double* const force = output.force.data + std::int64_t(first) * (3 * nodes);
    for (int i = rank; i < num * 3 * nodes; i += size)
      force[i] = state_of(i / (3 * nodes)).force[i / 3 % nodes].v[i % 3];
  }
};

template<class Exec, class Element>
void evaluate_in_teams(const Exec& exec, const SoftInput& input, const SoftOutput& output) {
  using Kernel = EvaluateElementTeam<Exec, Element>;
  using Team = ElementTeam<Element>;
  static_assert(sizeof(typename Element::State) % sizeof(double) == 0, "states are of doubles");
  const int teams = (input.num_elem + Team::elems - 1) / Team::elems;
  typename Kernel::Policy policy(exec, teams,
                                 BackendTraits<Exec>::is_device ? int(Team::threads) : 1, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(Team::scratch_bytes) + 16));
  Kokkos::parallel_for("ossatura::evaluate_soft_elements", policy, Kernel{input, output});
}

template<class Element>
struct SumEnergy {
  SoftInput input;

  KOKKOS_FUNCTION void operator()(std::int64_t elem, double& sum) const {
    sum += Element::energy(input, int(elem));
  }
};

// What is launched for the kind of element that is chosen at run time.

template<class Exec>
struct LaunchSystem {
  const Exec& exec;
  SoftInput input;
  SoftOutput output;

  template<class Element>
  void run() const {
    if constexpr (BackendTraits<Exec>::is_device)
      evaluate_in_teams<Exec, Element>(exec, input, output);
    else
      Kokkos::parallel_for("ossatura::evaluate_soft_elements", range(exec, input.num_elem),
                           EvaluateElement<Element>{input, output});
  }
};

template<class Exec>
struct LaunchEnergy {
  const Exec& exec;
  SoftInput input;
  Kokkos::View<double, Kokkos::SharedHostPinnedSpace> energy;

  template<class Element>
  void run() const {
    Kokkos::parallel_reduce("ossatura::soft_energy", range(exec, input.num_elem),
                            SumEnergy<Element>{input}, energy);
  }
};

} // namespace ossatura::detail
