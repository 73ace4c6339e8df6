// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/hexa/operators.hpp>

#include <ossatura/core/base/backend.hpp>
#include <ossatura/kernels/hexa/congruent.hpp>
#include <ossatura/kernels/hexa/inversion.hpp>
#include <ossatura/kernels/hexa/make_patches.hpp>
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

/// Patches of elements of any shape, or of one class each.
template<class Exec>
const HexaPatches<Exec>& patches_of(const Exec& exec, const HexaArrays<Exec>& arrays,
                                    const CongruenceClasses* classes,
                                    HexaOperatorTables<Exec>& tables) {
  if (!tables.patches) {
    const bool has_kinds = classes && classes->num_classes() > 1;
    tables.patches = make_hexa_patches(
        exec, arrays, classes ? classes->turned_node : std::vector<std::int32_t>(),
        has_kinds ? classes->of_elem : std::vector<int>(), has_kinds ? classes->num_classes() : 1);
  }
  return *tables.patches;
}

} // namespace

OperatorChoice<HexaOperatorKind> choose_hexa_operator(const ElementMesh& mesh,
                                                      std::optional<CongruenceClasses>& classes) {
  CongruenceClasses found = find_congruence_classes(mesh, most_classes(mesh));
  const std::string elements = std::to_string(mesh.num_elem()) + " elements";
  if (const int count = found.num_classes(); count > 0) {
    classes = std::move(found);
    return {HexaOperatorKind::congruent,
            std::to_string(count) + (count == 1 ? " shape for " : " shapes for ") + elements,
            count};
  }
  return {HexaOperatorKind::recompute,
          "more than " + std::to_string(most_classes(mesh)) + " shapes for " + elements};
}

template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_hexa_operator(const Exec& exec, HexaOperatorKind kind, const ElementMesh& mesh,
                   const HexaArrays<Exec>& arrays, const UnitLame& lame,
                   HexaOperatorTables<Exec>& tables) {
  const int inverted = find_inverted_hexa(exec, arrays);
  OSSATURA_REQUIRE(inverted == arrays.num_elem,
                   "element " << inverted << " is inside out: its Jacobian is not positive");
  switch (kind) {
  case HexaOperatorKind::recompute:
    return make_recompute_operator<Scalar>(exec, arrays, patches_of(exec, arrays, nullptr, tables),
                                           lame);
  case HexaOperatorKind::partial:
    return make_partial_operator<Scalar>(exec, arrays, patches_of(exec, arrays, nullptr, tables),
                                         lame);
  case HexaOperatorKind::congruent: {
    if (!tables.classes)
      tables.classes = find_congruence_classes(mesh, int(mesh.num_elem()));
    const CongruenceClasses& classes = *tables.classes;
    return make_congruent_operator<Scalar>(exec, arrays, patches_of(exec, arrays, &classes, tables),
                                           classes, lame);
  }
  default:
    OSSATURA_REQUIRE(kind != HexaOperatorKind::automatic, "choose_hexa_operator chooses a kind");
    return make_stored_hexa_operator<Scalar>(exec, kind, mesh, arrays, lame);
  }
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<HexaOperator<Exec, double>> make_hexa_operator<double>(                 \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&, const UnitLame&, \
      HexaOperatorTables<Exec>&);                                                                  \
  template std::unique_ptr<HexaOperator<Exec, float>> make_hexa_operator<float>(                   \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&, const UnitLame&, \
      HexaOperatorTables<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
