// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/hexa/operators.hpp>

#include <ossatura/core/base/backend.hpp>
#include <ossatura/kernels/hexa/congruent.hpp>
#include <ossatura/kernels/hexa/inversion.hpp>
#include <ossatura/kernels/hexa/published/stored_operators.hpp>
#include <ossatura/kernels/hexa/recompute.hpp>

namespace ossatura {

// Instantiated in a file of their own.
#define OSSATURA_STORED(Exec)                                                                      \
  extern template std::unique_ptr<HexaOperator<Exec, double>> make_stored_hexa_operator<double>(   \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);                                                                            \
  extern template std::unique_ptr<HexaOperator<Exec, float>> make_stored_hexa_operator<float>(     \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_STORED)
#undef OSSATURA_STORED

namespace {

/// More shapes than this fill patches badly, and the list of them takes time.
int most_classes(const ElementMesh& mesh) {
  return int(mesh.num_elem() / 256) + 8;
}

template<class Exec>
HexaPatches<Exec> whole_patches(const Exec& exec, const ElementMesh& mesh) {
  return make_hexa_patches(exec, int(mesh.num_points()),
                           make_hexa_patch_layout(mesh, mesh.node, {}, hexa_patch_size<Exec>));
}

} // namespace

OperatorChoice<HexaOperatorKind> choose_hexa_operator(const ElementMesh& mesh) {
  const CongruenceClasses classes = find_congruence_classes(mesh, most_classes(mesh));
  const std::string elements = std::to_string(mesh.num_elem()) + " elements";
  if (classes.num_classes() > 0)
    return {HexaOperatorKind::congruent,
            std::to_string(classes.num_classes()) +
                (classes.num_classes() == 1 ? " shape for " : " shapes for ") + elements,
            classes.num_classes()};
  return {HexaOperatorKind::recompute,
          "more than " + std::to_string(most_classes(mesh)) + " shapes for " + elements};
}

template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_hexa_operator(const Exec& exec, HexaOperatorKind kind, const ElementMesh& mesh,
                   const HexaArrays<Exec>& arrays, const UnitLame& lame) {
  const int inverted = find_inverted_hexa(exec, arrays);
  OSSATURA_REQUIRE(inverted == arrays.num_elem,
                   "element " << inverted << " is inside out: its Jacobian is not positive");
  switch (kind) {
  case HexaOperatorKind::recompute:
    return make_recompute_operator<Scalar>(exec, arrays, whole_patches(exec, mesh), lame);
  case HexaOperatorKind::partial:
    return make_partial_operator<Scalar>(exec, arrays, whole_patches(exec, mesh), lame);
  case HexaOperatorKind::congruent: {
    const CongruenceClasses classes = find_congruence_classes(mesh, int(mesh.num_elem()));
    const HexaPatches<Exec> patches = make_hexa_patches(
        exec, int(mesh.num_points()),
        make_hexa_patch_layout(mesh, classes.node, classes.of_elem, hexa_patch_size<Exec>));
    return make_congruent_operator<Scalar>(exec, arrays, patches, classes, lame);
  }
  default:
    OSSATURA_REQUIRE(kind != HexaOperatorKind::automatic, "choose_hexa_operator chooses a kind");
    return make_stored_hexa_operator<Scalar>(exec, kind, mesh, arrays, lame);
  }
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<HexaOperator<Exec, double>> make_hexa_operator<double>(                 \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);                                                                            \
  template std::unique_ptr<HexaOperator<Exec, float>> make_hexa_operator<float>(                   \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
