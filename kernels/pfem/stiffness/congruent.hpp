// SPDX-License-Identifier: Apache-2.0
// The congruent method forms one stiffness matrix for each class of hexahedra
// (kernels/pfem/hexa_classes.hpp) and copies the matrix to the elements of the class.
#pragma once

#include <ossatura/kernels/pfem/hexa_classes.hpp>

#include <algorithm>

namespace ossatura {

namespace detail {

/// Gathers the data of the first element of each class, from which matrices are made.
template<class Exec>
struct GatherFirst {
  HexaBatchPointers batch;
  std::int64_t begin;
  Array<int, Exec> first;
  Array<double, Exec> corner, elasticity; ///< [num_classes, 24], [num_classes, 21]

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t e = begin + first(k);
    for (int t = 0; t < 24; ++t)
      corner(24 * k + t) = batch.corner(24 * e + t);
    for (int t = 0; t < elasticity_entries; ++t)
      elasticity(elasticity_entries * k + t) = batch.elasticity(e, 0)[t];
  }
};

/// A team copies a stretch of one matrix.
template<class Exec>
struct CopyClassMatrices {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  std::int64_t first, entries;
  int num_stretches, stretch;
  Array<int, Exec> of_elem;
  Array<double, Exec> source, matrix;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t k = first + team.league_rank() / num_stretches,
                       at = std::int64_t(team.league_rank() % num_stretches) * stretch;
    const double* const from = source.data() + of_elem(k) * entries + at;
    double* const to = matrix.data() + k * entries + at;
    const int count = entries - at < stretch ? int(entries - at) : stretch;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int i) { to[i] = from[i]; });
  }
};

} // namespace detail

/// The first element of each class as a batch. Fences, but does not wait for its arrays.
template<class Exec>
HexaBatch<Exec> gather_classes(const Exec& exec, const HexaBatch<Exec>& batch, std::int64_t begin,
                               const HexaClasses<Exec>& classes) {
  HexaBatch<Exec> few = batch;
  few.num_elem = classes.num_classes();
  few.elem_stride = elasticity_entries;
  few.corner = make_uninitialized<double>(exec, 24 * few.num_elem, "ossatura::classes::corner");
  few.elasticity = make_uninitialized<double>(exec, elasticity_entries * few.num_elem,
                                              "ossatura::classes::elasticity");
  few.elem = upload(exec, "ossatura::classes::first", classes.first);
  few.signed_mode = {};
  Kokkos::parallel_for("ossatura::gather_classes", range(exec, few.num_elem),
                       detail::GatherFirst<Exec>{detail::HexaBatchPointers(batch), begin, few.elem,
                                                 few.corner, few.elasticity});
  return few;
}

/// matrix[k] = source[classes.of_elem[k]], `entries` numbers each. Does not fence.
template<class Exec>
void copy_class_matrices(const Exec& exec, const HexaClasses<Exec>& classes, std::int64_t entries,
                         const Array<double, Exec>& source, const Array<double, Exec>& matrix) {
  constexpr int stretch = 8192;
  const int num_stretches = int((entries + stretch - 1) / stretch);
  const std::int64_t num_elem = classes.of_elem.extent(0),
                     most = (std::int64_t(1) << 30) / num_stretches; // of a league
  for (std::int64_t first = 0; first < num_elem; first += most)
    Kokkos::parallel_for(
        "ossatura::copy_class_matrices",
        Kokkos::TeamPolicy<Exec>(exec, int(std::min(most, num_elem - first) * num_stretches),
                                 BackendTraits<Exec>::is_device ? 256 : 1),
        detail::CopyClassMatrices<Exec>{first, entries, num_stretches, stretch, classes.of_elem,
                                        source, matrix});
}

/// Elements begin .. end - 1, trilinear with one D each, into `matrix`, one behind the other.
/// form(batch, begin, end, matrix) forms the matrices of classes, or of all elements where half of
/// them or more are classes. Fences.
template<class Exec, class Form>
void form_congruent(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                    std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix,
                    const Form& form) {
  const HexaClasses<Exec> classes = find_hexa_classes(exec, batch, begin, end);
  if (2 * std::int64_t(classes.num_classes()) >= end - begin) {
    form(batch, begin, end, matrix);
    return;
  }
  const HexaBatch<Exec> few = gather_classes(exec, batch, begin, classes);
  const std::int64_t entries = matrix_entries(storage, batch.num_dofs());
  const Array<double, Exec> source =
      make_uninitialized<double>(exec, few.num_elem * entries, "ossatura::form_congruent::source");
  form(few, 0, few.num_elem, source);
  copy_class_matrices(exec, classes, entries, source, matrix);
  fence(exec, "ossatura::form_congruent");
}

} // namespace ossatura
