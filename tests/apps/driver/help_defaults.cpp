// SPDX-License-Identifier: Apache-2.0
// Defaults in help come from the structs: help follows where a struct changes.
#include "apps/bone/input/options.hpp"
#include "apps/driver/options/record_change.hpp"
#include "apps/eikonal/input/options.hpp"
#include "apps/pfem/input/options.hpp"
#include "apps/softbody/input/options.hpp"
#include "apps/topopt/input/options.hpp"
#include "tests/catch.hpp"

#include <set>

using namespace ossatura;

namespace {

struct Sample {
  double tolerance = 1e-9;
  int steps = 40;
  EikonalMethod method = EikonalMethod::automatic;
  bool warm = true;
};

std::string description(const CLI::App& app, const std::string& option) {
  return app.get_option(option)->get_description();
}

std::string default_of(const CLI::App& app, const std::string& option) {
  return app.get_option(option)->get_default_str();
}

void add_sample(CLI::App& app, Changes<Sample>& changes) {
  add_number(app, changes, "--tolerance", &Sample::tolerance, "X", "Residual");
  add_number(app, changes, "--steps", &Sample::steps, "N", "Steps");
  add_number(app, changes, "--limit", &Sample::steps, "N", "Limit", "as many as there are");
  add_named(app, changes, "--method", &Sample::method, "Way");
  add_switch(app, changes, "warm", &Sample::warm, "On", "Off");
}

/// The options of groups whose defaults stand in parentheses and whose help is the same with
/// `changed` defaults.
template<class CommandOptions, class Options>
std::set<std::string> unmoved(void (*add)(CLI::App&, CommandOptions&), const Options& changed) {
  CommandOptions usual, other;
  other.changes.defaults = changed;
  CLI::App before, after;
  add(before, usual);
  add(after, other);
  std::set<std::string> names;
  for (const CLI::Option* option : before.get_options())
    if (option->get_group().find("in parentheses") != std::string::npos ||
        option->get_group().find("likewise") != std::string::npos) {
      const std::string name = option->get_lnames().front();
      if (option->get_description() == description(after, "--" + name))
        names.insert(name);
    }
  return names;
}

} // namespace

TEST_CASE("help shows the defaults of a struct", "[help]") {
  Changes<Sample> changes;
  CLI::App app;
  add_sample(app, changes);
  CHECK(description(app, "--tolerance") == "Residual (1e-9)");
  CHECK(description(app, "--steps") == "Steps (40)");
  CHECK(description(app, "--limit") == "Limit (as many as there are)");
  CHECK(description(app, "--method") == "Way. Published methods: scan, patch (auto)");
  CHECK(app.get_option("--method")->get_type_name() == "auto|queue|spread|scan|patch");
  CHECK(description(app, "--warm") == "On (default)");
  CHECK(description(app, "--no-warm") == "Off");
}

TEST_CASE("help follows where a default changes", "[help]") {
  Changes<Sample> changes;
  changes.defaults = {0.25, 7, EikonalMethod::queue, false};
  CLI::App app;
  add_sample(app, changes);
  CHECK(description(app, "--tolerance") == "Residual (0.25)");
  CHECK(description(app, "--steps") == "Steps (7)");
  CHECK(description(app, "--method") == "Way. Published methods: scan, patch (queue)");
  CHECK(description(app, "--warm") == "On");
  CHECK(description(app, "--no-warm") == "Off (default)");
  CHECK(changes.applied().steps == 7);
}

TEST_CASE("help of softbody follows all of its defaults", "[help]") {
  SoftOptions o;
  o.newton_iterations = 3;
  o.newton_tolerance = o.tolerance = o.contact_tolerance = 0.125;
  o.max_halvings = o.contact_iterations = o.max_iterations = o.batch = o.bands = 5;
  o.refresh_after = o.refresh_every = 5;
  o.assembly = SoftAssembly::triplets;
  o.product = SoftProduct::kokkos_kernels;
  o.preconditioner = SoftPreconditioner::jacobi;
  o.place = FactorPlace::host;
  o.apply = FactorApply::levels;
  o.storage = FactorStorage::fp64;
  o.warp = false;
  CHECK(unmoved(add_softbody_options, o).empty());
}

TEST_CASE("help of topopt follows all of its defaults", "[help]") {
  DesignOptions o;
  o.objective = DesignObjective::volume;
  o.volume_fraction = o.threshold = o.min_modulus = o.move = o.change_tolerance = 0.125;
  o.objective_change = o.robust = 0.125;
  o.grid = DesignGrid::voxels;
  o.filter = DesignFilter::none;
  o.projection = true;
  o.sharpness = o.penalty = {2, 9, 7, 1, 0.5};
  o.method = DesignMethod::mma;
  o.max_steps = o.frequencies = 5;
  o.warm_start = false;
  o.solver.kind = HexaOperatorKind::csr;
  o.solver.preconditioner = HexaPreconditioner::jacobi;
  o.solver.cg.tolerance = 0.125;
  o.solver.cg.max_iterations = o.solver.chebyshev_degree = o.solver.forming_cost = 5;
  // The defaults of two are words, that of one is of no struct; processes and limits have none.
  CHECK(unmoved(add_topopt_options, o) ==
        std::set<std::string>{"draw", "extrude", "levels", "max-compliance", "max-mass",
                              "max-stress", "min-frequency", "overhang", "radius", "sectors",
                              "split", "start", "start-from", "step-tolerance", "symmetry"});
}

TEST_CASE("help of pfem follows all of its defaults", "[help]") {
  PfemOptions o;
  o.space = HexaSpace::tensor;
  o.discretisation.rule = QuadratureRule::paper;
  o.discretisation.scaling = ModeScaling::paper;
  o.solver.kind = HierarchicOperatorKind::bsr;
  o.solver.form = StiffnessMethod::ai;
  o.solver.preconditioner = HierarchicPreconditioner::none;
  o.solver.cg.tolerance = 0.125;
  o.solver.cg.max_iterations = 5;
  // That of the order is no member, and these two have none.
  CHECK(unmoved(add_pfem_options, o) == std::set<std::string>{"order", "points", "element-wise"});
  PfemCommandOptions usual;
  CLI::App app;
  add_pfem_options(app, usual);
  CHECK(description(app, "--order").find('(' + std::to_string(default_pfem_order) + ')') !=
        std::string::npos);
}

TEST_CASE("help of bone and eikonal follows their options", "[help]") {
  BoneOptions bone;
  bone.size = {3, 4, 5};
  bone.tolerance = 0.125;
  bone.test = LoadTest::torsion;
  bone.centre.kind = TurnCentre::Kind::box;
  bone.axis = 1;
  bone.connected_by_node = true;
  bone.matrix = VoxelOperatorKind::hash;
  bone.fields = {"sed", "stress"};
  CLI::App app;
  add_bone_options(app, bone);
  CHECK(default_of(app, "--size") == "3,4,5");
  CHECK(default_of(app, "--tolerance") == "0.125");
  CHECK(default_of(app, "--test") == "torsion");
  CHECK(default_of(app, "--centre") == "box");
  CHECK(default_of(app, "--axis") == "y");
  CHECK(default_of(app, "--connectivity") == "node");
  CHECK(default_of(app, "--operator") == "hash");
  CHECK(default_of(app, "--fields") == "sed,stress");
  const std::string degree = std::to_string(MultigridOptions().smoother.degree),
                    paper = std::to_string(MultigridOptions::paper().smoother.degree);
  CHECK(description(app, "--smoother-degree") ==
        "Of the polynomial on the finest level (" + degree + "; paper: " + paper + ')');

  EikonalCommandOptions eikonal;
  eikonal.solver.method = EikonalMethod::patch;
  eikonal.solver.metric = TetraMetric::products;
  eikonal.solver.num_parts = 6;
  CLI::App other;
  add_eikonal_options(other, eikonal);
  CHECK(default_of(other, "--method") == "patch");
  CHECK(default_of(other, "--metric") == "products");
  CHECK(default_of(other, "--parts") == "6");
}
