// SPDX-License-Identifier: Apache-2.0
// These kernels move the nodes of soft bodies in a step of backward Euler.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

namespace ossatura {

/// What a step tells the host, [num_notes], where the host reads it after a fence.
enum StepNote {
  noted_inverted,   ///< elements inside out
  noted_non_finite, ///< 1: a position is not finite
  num_notes
};
using StepNotes = Kokkos::View<int*, Kokkos::SharedHostPinnedSpace>;

inline StepNotes make_step_notes() {
  return StepNotes("ossatura::step_notes", num_notes);
}

struct MotionEnergy {
  double kinetic, potential; ///< J
};

namespace detail {
template<class Exec>
struct MoveNodes {
  double h;
  ArrayPointer<double> x, v_before, a, v, x_after;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double v_i = v_before(i) + h * a(i);
    v(i) = v_i;
    x_after(i) = x(i) + h * v_i;
  }
};

template<class Exec>
struct InertialLoad {
  double per_h;
  ArrayPointer<double> load, mass, v, v_start, result;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    result(i) = load(i) - mass(i / 3) * (v(i) - v_start(i)) * per_h;
  }
};

template<class Exec>
struct RelativeRotation {
  ArrayPointer<double> now, before, relative;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = i / 9;
    const int r = int(i % 9) / 3, c = int(i % 3);
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += now(9 * node + 3 * r + k) * before(9 * node + 3 * c + k);
    relative(i) = sum;
  }
};

template<class Exec>
struct SumMotionEnergy {
  using value_type = MotionEnergy;
  ArrayPointer<double> x, x_start, v, mass, load;

  KOKKOS_FUNCTION void operator()(std::int64_t i, MotionEnergy& sum) const {
    sum.kinetic += 0.5 * mass(i / 3) * v(i) * v(i);
    sum.potential -= load(i) * (x(i) - x_start(i));
  }
  KOKKOS_FUNCTION void init(MotionEnergy& sum) const { sum = {0, 0}; }
  KOKKOS_FUNCTION void join(MotionEnergy& sum, const MotionEnergy& other) const {
    sum.kinetic += other.kinetic;
    sum.potential += other.potential;
  }
};

template<class Exec>
struct CountNonFinite {
  ArrayPointer<double> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i, int& count) const {
    if (!(x(i) - x(i) == 0))
      ++count;
  }
};

template<class Exec>
struct NoteStep {
  ArrayPointer<double> x;
  ArrayPointer<int> inverted, notes;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i == 0)
      notes(noted_inverted) = inverted(0);
    if (!(x(i) - x(i) == 0))
      Kokkos::atomic_store(&notes(noted_non_finite), 1);
  }
};
} // namespace detail

/// v = v_before + h a and x_after = x + h v, [3 num_nodes] each; v may be v_before, x_after x. Does
/// not fence.
template<class Exec>
void move_nodes(const Exec& exec, double h, const Array<double, Exec>& x,
                const Array<double, Exec>& v_before, const Array<double, Exec>& a,
                const Array<double, Exec>& v, const Array<double, Exec>& x_after) {
  Kokkos::parallel_for("ossatura::move_nodes", range(exec, x.extent(0)),
                       detail::MoveNodes<Exec>{h, x, v_before, a, v, x_after});
}

/// result = load - m (v - v_start) / h: what is left of the load after the inertia of a Newton
/// iterate. Does not fence.
template<class Exec>
void inertial_load(const Exec& exec, double h, const Array<double, Exec>& load,
                   const Array<double, Exec>& mass, const Array<double, Exec>& v,
                   const Array<double, Exec>& v_start, const Array<double, Exec>& result) {
  Kokkos::parallel_for("ossatura::inertial_load", range(exec, load.extent(0)),
                       detail::InertialLoad<Exec>{1 / h, load, mass, v, v_start, result});
}

/// relative = now before^T, rotations [num_nodes, 9]. Does not fence.
template<class Exec>
void relative_rotation(const Exec& exec, const Array<double, Exec>& now,
                       const Array<double, Exec>& before, const Array<double, Exec>& relative) {
  Kokkos::parallel_for("ossatura::relative_rotation", range(exec, now.extent(0)),
                       detail::RelativeRotation<Exec>{now, before, relative});
}

/// Kinetic energy and the potential of constant loads, 0 at x_start, to `sum`, where the host reads
/// it after a fence. Does not fence.
template<class Exec>
void motion_energy(const Exec& exec, const Array<double, Exec>& x,
                   const Array<double, Exec>& x_start, const Array<double, Exec>& v,
                   const Array<double, Exec>& mass, const Array<double, Exec>& load,
                   const Kokkos::View<MotionEnergy, Kokkos::SharedHostPinnedSpace>& sum) {
  Kokkos::parallel_reduce("ossatura::motion_energy", range(exec, x.extent(0)),
                          detail::SumMotionEnergy<Exec>{x, x_start, v, mass, load}, sum);
}

/// Notes whether x is finite, and the count `inverted` [1]. The instance has no earlier work on
/// `notes` under way. Does not fence.
template<class Exec>
void note_step(const Exec& exec, const Array<double, Exec>& x, const Array<int, Exec>& inverted,
               const StepNotes& notes) {
  notes(noted_non_finite) = 0;
  Kokkos::parallel_for("ossatura::note_step", range(exec, x.extent(0)),
                       detail::NoteStep<Exec>{x, inverted, notes});
}

/// Entries of x that are not finite. Fences.
template<class Exec>
int count_non_finite(const Exec& exec, const Array<double, Exec>& x) {
  int count = 0;
  Kokkos::parallel_reduce("ossatura::count_non_finite", range(exec, x.extent(0)),
                          detail::CountNonFinite<Exec>{x}, count);
  return count;
}

} // namespace ossatura
