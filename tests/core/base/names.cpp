// SPDX-License-Identifier: Apache-2.0
// Tables of names: printing, finding, and that no name or value is there twice.
#include "tests/catch.hpp"
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>
#include <ossatura/kernels/softbody/elements/material.hpp>
#include <ossatura/solvers/bone/solver.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>
#include <ossatura/solvers/pfem/solver.hpp>
#include <ossatura/solvers/softbody/options.hpp>
#include <ossatura/solvers/topopt/options.hpp>

#include <set>
#include <string>

using namespace ossatura;

namespace {

enum class Fruit { none, apple, quince };

constexpr Names<Fruit> names_of(Fruit) {
  return {{Fruit::quince, "quince", is_published}, {Fruit::apple, "apple"}};
}

template<class Enum>
void require_each_once() {
  std::set<std::string> names;
  std::set<Enum> values;
  for (const Named<Enum>& entry : name_table<Enum>) {
    CHECK(names.insert(entry.name).second);
    CHECK(values.insert(entry.value).second);
    CHECK(name_of(entry.value) == std::string(entry.name));
  }
  CHECK(values.size() > 1);
}

} // namespace

TEST_CASE("an enum prints as its table says", "[names]") {
  CHECK(name_of(Fruit::apple) == std::string("apple"));
  CHECK(name_of(Fruit::none) == std::string("unknown"));
  CHECK(name_table<Fruit>.find(Fruit::none) == nullptr);
  CHECK(name_table<Fruit>.begin()->published);
  CHECK_FALSE(name_table<Fruit>.begin()[1].published);
}

TEST_CASE("no name and no value is in a table twice", "[names]") {
  require_each_once<ElementShape>();
  require_each_once<ImageFormat>();
  require_each_once<SampleType>();
  require_each_once<ModulusUnit>();
  require_each_once<LaunchGraphState>();
  require_each_once<HexaSpace>();
  require_each_once<HexaOperatorKind>();
  require_each_once<SoftLaw>();
  require_each_once<SoftRotation>();
  require_each_once<ModeScaling>();
  require_each_once<QuadratureRule>();
  require_each_once<HierarchicOperatorKind>();
  require_each_once<MatrixStorage>();
  require_each_once<StiffnessMethod>();
  require_each_once<EikonalMethod>();
  require_each_once<TetraMetric>();
  require_each_once<VoxelOperatorKind>();
  require_each_once<Precision>();
  require_each_once<CoarseSolver>();
  require_each_once<SmootherKind>();
  require_each_once<HexaPreconditioner>();
  require_each_once<DesignObjective>();
  require_each_once<DesignFilter>();
  require_each_once<DesignMethod>();
  require_each_once<FactorRefresh>();
  require_each_once<FactorApply>();
  require_each_once<FactorStorage>();
  require_each_once<SoftPreconditioner>();
  require_each_once<SoftAssembly>();
  require_each_once<SoftProduct>();
  require_each_once<FactorPlace>();
  require_each_once<HierarchicPreconditioner>();
}

TEST_CASE("a type of samples has the size that its name says", "[names]") {
  for (const Named<SampleType>& type : name_table<SampleType>) {
    const std::string name = type.name;
    CHECK(std::to_string(8 * size_of(type.value)) == name.substr(name.find_first_of("0123456789")));
  }
}
