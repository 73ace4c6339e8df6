// SPDX-License-Identifier: Apache-2.0
// The steps of `ossatura bone`, in its order, for an image in memory.
#include "python/bone/model.hpp"

#include "python/bone/kernels.hpp"
#include "python/bone/masked_image.hpp"
#include "python/engine/arrays.hpp"
#include "python/engine/runtime.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/kernels/bone/loads/uniform_stress.hpp>
#include <ossatura/solvers/bone/islands.hpp>
#include <ossatura/solvers/bone/remodelling.hpp>
#include <ossatura/solvers/bone/results/homogenisation.hpp>
#include <ossatura/solvers/bone/results/labels.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/support_checks.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ossatura::python {

namespace {

static_assert(int(BoneTestKind::axial) == int(TestKind::axial) &&
              int(BoneTestKind::confined) == int(TestKind::confined) &&
              int(BoneTestKind::shear) == int(TestKind::shear) &&
              int(BoneTestKind::torsion) == int(TestKind::torsion) &&
              int(BoneTestKind::bending) == int(TestKind::bending) &&
              int(BoneTestKind::symmetric_shear) == int(TestKind::symmetric_shear));

constexpr double least_poisson = -0.999, greatest_poisson = 0.499999; // as the executable
constexpr double locking_poisson = 0.49;

void require_ratio(const BoneImage& image) {
  if (!(image.poisson >= least_poisson && image.poisson <= greatest_poisson))
    fail<InputError>("Poisson's ratio ", image.poisson, ": -0.999 to 0.499999 is taken");
  if (image.poisson > locking_poisson)
    log_warning("locking", "Poisson's ratio of ", image.poisson,
                ": the elements lock near 0.5, which makes the bone too stiff by several per cent "
                "and more; keep it below 0.49");
}

/// The values as the library has them, in the caller's memory where the backend reaches that.
template<class Exec>
VoxelArray<Exec> take_values(const Exec& exec, const BoneImage& image) {
  VoxelArray<Exec> modulus;
  std::int64_t n = 1;
  for (int d = 0; d < 3; ++d) {
    modulus.shape[d] = image.shape[d];
    n *= image.shape[d];
  }
  modulus.value = array_of(exec, image.modulus, n);
  return modulus;
}

/// The image of moduli, as it is.
template<class Exec>
VoxelArray<Exec> take_image(const Exec& exec, const BoneImage& image) {
  const VoxelArray<Exec> modulus = take_values(exec, image);
  if (const std::int64_t bad = find_bad_modulus(exec, modulus.value); bad >= 0)
    fail<InputError>("modulus at ", index_text(image.shape, bad),
                     ": negative, not a number or more than 1e30 MPa; void is 0");
  require_ratio(image);
  return modulus;
}

template<class Exec>
VoxelArray<Exec> copy_of_image(const Exec& exec, const VoxelArray<Exec>& image) {
  const VoxelArray<Exec> copy =
      make_voxel_array(exec, {image.shape[0], image.shape[1], image.shape[2]});
  Kokkos::deep_copy(exec, copy.value, image.value);
  fence(exec, "ossatura::python::copy_of_image");
  return copy;
}

/// The materials of an image by a mask, or by the law of densities of remodelling.
template<class Exec>
Materials<Exec> take_materials(const Exec& exec, const BoneImage& image,
                               const std::optional<BoneMask>& mask, int axis,
                               const BoneAdaptation* adaptation) {
  Materials<Exec> made;
  made.uniform_poisson = image.poisson;
  if (!mask && adaptation == nullptr) {
    made.modulus = take_image(exec, image);
    return made;
  }
  require_ratio(image);
  const VoxelArray<Exec> values = take_values(exec, image);
  MaterialLaw law;
  law.poisson = image.poisson;
  if (adaptation != nullptr) {
    law.kind = MaterialKind::power;
    law.coefficient = adaptation->coefficient;
    law.exponent = adaptation->exponent;
    if (const std::int64_t bad = mask ? -1 : find_bad_modulus(exec, values.value); bad >= 0)
      fail<InputError>("density at ", index_text(image.shape, bad),
                       ": negative or not a number; void is 0");
  }
  made.modulus = copy_of_image(exec, values);
  apply_laws(exec, image, mask, law, axis, adaptation != nullptr ? "density" : "modulus", made);
  return made;
}

/// Of the box around the bone, that supports are at.
int supported_sides(const BoneTest& test) {
  const bool is_boxed =
      test.kind == BoneTestKind::confined || test.kind == BoneTestKind::symmetric_shear;
  return is_boxed ? all_sides : sides_across(test.axis);
}

/// What is solved, and for which load.
template<class Exec>
struct Case {
  Materials<Exec> materials;
  bool is_copy = false;     ///< of the caller's image, without islands
  std::optional<int> sides; ///< of the box around the bone, that supports are at; none of a cell
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
  std::int64_t num_dropped = 0;
};

template<class Exec>
void make_problem(const Exec& exec, const BoneImage& image, Case<Exec>& made) {
  const Materials<Exec>& of = made.materials;
  made.problem = make_voxel_problem(exec,
                                    of.poisson.value.extent(0) > 0
                                        ? make_material(exec, of.modulus, of.poisson)
                                        : make_material(of.modulus, of.uniform_poisson),
                                    image.spacing);
}

/// Copies the caller's image, whose islands are to become void.
template<class Exec>
void own_image(const Exec& exec, const BoneImage& image, Case<Exec>& made) {
  if (made.is_copy || made.materials.modulus.value.data() != image.modulus)
    return;
  made.materials.modulus = copy_of_image(exec, made.materials.modulus);
  made.is_copy = true;
}

/// Takes islands out of the image. Whether there were any, so that problem and load are to be made
/// anew.
template<class Exec>
bool take_islands_out(const Exec& exec, const BoneImage& image, const std::string& how,
                      Case<Exec>& made) {
  const auto drop = [&](double most) {
    const VoxelArray<Exec>& modulus = made.materials.modulus;
    return made.sides ? drop_islands(exec, made.problem, modulus, most, *made.sides)
                      : drop_periodic_islands(exec, made.problem, modulus, most);
  };
  const double none = -1;
  const DroppedIslands loose = drop(none);
  if (loose.components == 0)
    return false;
  std::ostringstream what;
  what << loose.voxels << " voxels (" << 100 * loose.part << " % of the bone) in "
       << loose.components
       << (made.sides ? " parts touch no support, or one that the largest part does not reach"
                      : " parts lead through the cell to no next one")
       << ", the first at " << index_text(image.shape, loose.example);
  if (how == "error")
    fail<InputError>(what.str(), ": islands=\"drop\" leaves them out");
  const char* remedies = made.sides
                             ? "keep the largest part alone, so that plates lie at its ends, or "
                               "let plates reach further by plate_depth"
                             : "choose a cell that bone leads through";
  if (loose.part > 0.5)
    fail<InputError>(what.str(), ": what is left is not the specimen; ", remedies);
  const double most = how == "drop" ? 0.5 : most_islands;
  if (loose.part > most)
    fail<InputError>(what.str(), ": ", remedies, "; islands=\"drop\" leaves them out");
  log_warning("islands-left-out", what.str(), ": left out");
  made.num_dropped += loose.voxels;
  own_image(exec, image, made);
  drop(most);
  return true;
}

/// Makes problem and load of an image, or of a cell: load(problem) gives the latter.
template<class Exec, class Load>
Case<Exec> make_case(const Exec& exec, const BoneImage& image, const BoneOptions& options,
                     std::optional<int> sides, const Load& load, Materials<Exec> materials) {
  Case<Exec> made;
  made.sides = sides;
  made.materials = std::move(materials);
  make_problem(exec, image, made);
  made.load = load(made.problem);
  while (take_islands_out(exec, image, options.islands,
                          made)) { // plates lie at the ends of what is left
    make_problem(exec, image, made);
    made.load = load(made.problem);
  }
  return made;
}

/// The image is the caller's, and solvers do not need it.
template<class Exec>
void drop_image(Case<Exec>& made) {
  made.problem.material = {};
  made.materials.modulus = made.materials.poisson = {};
}

MechanicalTest library_test(const BoneTest& test) {
  MechanicalTest made;
  made.kind = TestKind(test.kind);
  made.axis = test.axis;
  made.direction = test.direction;
  made.strain = test.strain;
  made.displacement = test.displacement;
  made.angle = test.angle;
  made.lateral_free = test.lateral_free;
  made.plate_depth = test.plate_depth;
  made.centre = test.centre;
  return made;
}

template<class Exec>
BoneLoad<Exec> make_test_load(const Exec& exec, const BoneTest& test, VoxelProblem<Exec>& problem) {
  MechanicalTest made = library_test(test);
  if (test.about_mass && (made.kind == TestKind::torsion || made.kind == TestKind::bending))
    made.centre = centre_of_bone(exec, problem);
  return load_by_test(exec, made, problem);
}

/// Of a box that ends at other parts than the specimen.
void warn_of_box(const PartShares& parts) {
  if (!parts.fills_box())
    log_warning("bone-in-parts", parts.beyond, " of ", parts.num_voxels,
                " voxels are in parts that lie beyond the largest, and share no node with it: the "
                "box of the test ends at them, and is larger than the specimen: keep the largest "
                "part alone");
}

/// Refuses supports that give a number without a meaning, and warns of doubtful ones.
template<class Exec>
void check_supports_of(const Exec& exec, const Case<Exec>& made) {
  if (made.sides == all_sides)
    warn_of_box(find_part_shares(exec, made.problem));
  const SupportFindings found = examine_supports(exec, made.problem, made.load);
  const double voxels = double(made.problem.grid.num_elem);
  if (found.num_carrying == 0)
    fail<InputError>(found.is_loaded
                         ? "no path of bone leads from one plate to the other: look at the image, "
                           "or let plates reach further by plate_depth"
                         : "nothing loads the specimen: strain, displacement or angle is 0");
  if (double(found.num_carrying) < least_carrying * voxels)
    log_warning("unloaded-parts", made.problem.grid.num_elem - found.num_carrying, " of ",
                made.problem.grid.num_elem,
                " voxels are in parts that touch one plate only: they carry nothing");
  if (found.free)
    fail<InputError>("the part of the specimen with voxel x, y, z = ", found.free->voxel[0], ", ",
                     found.free->voxel[1], ", ", found.free->voxel[2], " (", found.free->num_voxels,
                     " voxels) can move freely: ", found.free->motions,
                     "; keep one part alone, or use lateral=\"constrained\"");
  for (const SmallContact& contact : found.small_contacts)
    log_warning("small-contact", contact.support.name, ": touches ", contact.support.contact_area,
                " mm2 of bone (", contact.support.num_nodes, " nodes) of a mean cross-section of ",
                contact.cross_section,
                " mm2: the result is that of the spots where it touches; "
                "plate_depth lets plates reach further");
}

template<class Exec>
VoxelSolverOptions solver_options(const BoneOptions& options) {
  VoxelSolverOptions made = fastest_voxel_options<Exec>();
  made.cg.tolerance = options.tolerance;
  made.cg.max_iterations = options.max_iterations;
  made.cg.stall_window = 100; // as the executable
  if (options.precision.empty())
    return made;
  for (const Named<Precision>& entry : name_table<Precision>)
    if (options.precision == entry.name) {
      made.precision = entry.value;
      return made;
    }
  fail<UsageError>("precision \"", options.precision, "\": \"lean\", \"mixed\" or \"double\"");
}

BoneSolve numbers_of(const SolveResult& solved) {
  return {solved.iterations, solved.residual, solved.converged, solved.fell_back};
}

template<class Exec>
BoneModelNumbers describe(const Case<Exec>& made) {
  return {made.problem.grid.num_elem, made.problem.grid.num_nodes, made.num_dropped};
}

template<class Exec>
BoneNumbers numbers_of(const BoneSolution<Exec>& solution) {
  BoneNumbers numbers;
  numbers.strain_energy = solution.strain_energy;
  if (const auto& response = solution.response) {
    numbers.height = response->height;
    numbers.area = response->area;
    numbers.displacement = response->displacement;
    numbers.force = response->force;
    numbers.strain = response->strain;
    numbers.stress = response->stress;
    numbers.stiffness = response->stiffness;
    numbers.apparent_modulus = response->apparent_modulus;
    numbers.angle = response->angle;
    numbers.moment = response->moment;
    numbers.rotational_stiffness = response->rotational_stiffness;
  }
  for (const MovedSupport& support : solution.supports) {
    const SupportReaction& reaction = support.reaction;
    numbers.reactions.push_back({reaction.name, reaction.num_nodes, reaction.force, reaction.moment,
                                 reaction.centre, support.displacement, reaction.contact_area});
  }
  if (!(solution.strain_energy > 0) || std::isinf(solution.strain_energy))
    fail<InputError>("the strain energy is ", solution.strain_energy,
                     " N mm: lengths, moduli or loads are too small or too large to compute with");
  return numbers;
}

/// What products of voxels are of.
template<class Exec>
struct VoxelStiffness {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Kokkos::Array<int, 3> shape; ///< of the image
};

template<class Exec>
VoxelStiffness<Exec> stiffness_of(const VoxelProblem<Exec>& problem) {
  return {problem.grid, problem.lame, problem.edge, problem.grid.shape};
}

/// Adds factor w_e' K_e u_e / E_e of each voxel, by the lowest nodes `element`, to out [nz, ny,
/// nx].
template<class Exec>
void add_products(const Exec& exec, const VoxelStiffness<Exec>& of, const Array<int, Exec>& element,
                  double factor, const Array<double, Exec>& w, const Array<double, Exec>& u,
                  double* out) {
  const auto& shape = of.shape;
  fill_array(exec, out, std::int64_t(shape[0]) * shape[1] * shape[2],
             [&](const Array<double, Exec>& array) {
               Kokkos::parallel_for("ossatura::python::add_products",
                                    range(exec, element.extent(0)),
                                    ProductPerModulus<Exec>{of.grid, of.lame, of.edge, factor, w, u,
                                                            element, shape, array});
             });
}

template<class Exec>
class AnswerOn : public BoneAnswer, Holder {
public:
  AnswerOn(const Exec& exec, VoxelProblem<Exec> problem, BoneSolution<Exec> solution,
           BoneNumbers numbers)
      : exec_(exec)
      , problem_(std::move(problem))
      , solution_(std::move(solution))
      , numbers_(std::move(numbers)) {
    solution_.force = {}; // nothing is made from it
  }
  void drop() noexcept override {
    problem_ = {};
    solution_ = {};
  }
  const BoneNumbers& numbers() const override { return numbers_; }
  void displacement(double* out) const override;
  void field(const std::string& name, float* out) const override;
  void energy_gradient(double* out) const override {
    add_products(exec_, stiffness_of(problem_), solution_.fields.element, 0.5,
                 solution_.displacement, solution_.displacement, out);
  }
  BoneSolve adjoint(const double* weight, const BoneOptions& options, const BoneObserver& observe,
                    double* out) const override;

private:
  Exec exec_;
  VoxelProblem<Exec> problem_;
  BoneSolution<Exec> solution_;
  BoneNumbers numbers_;

  std::int64_t count(int more) const {
    const auto& shape = solution_.grid.shape;
    return std::int64_t(shape[0] + more) * (shape[1] + more) * (shape[2] + more);
  }
};

template<class Exec>
void AnswerOn<Exec>::displacement(double* out) const {
  const VoxelGrid<Exec>& grid = solution_.grid;
  fill_array(exec_, out, 3 * count(1), [&](const Array<double, Exec>& array) {
    Kokkos::parallel_for("ossatura::python::displacement", range(exec_, grid.num_nodes),
                         ScatterNodes<Exec>{grid, solution_.displacement, array});
  });
}

template<class Exec>
Array<float, Exec> list_float_moduli(const Exec& exec, const BoneSolution<Exec>& solution) {
  const Array<int, Exec>& element = solution.fields.element;
  const auto modulus =
      make_uninitialized<float>(exec, element.extent(0), "ossatura::python::modulus");
  Kokkos::parallel_for("ossatura::python::modulus", range(exec, element.extent(0)),
                       ListFloatModuli<Exec>{solution.lame, element, modulus});
  return modulus;
}

template<class Exec>
void AnswerOn<Exec>::field(const std::string& name, float* out) const {
  const VoxelFields<Exec>& fields = solution_.fields;
  const Array<float, Exec> value = name == "energy_density"     ? fields.energy_density
                                   : name == "von_mises"        ? fields.von_mises
                                   : name == "effective_strain" ? fields.effective_strain
                                   : name == "strain"           ? fields.strain
                                   : name == "modulus" ? list_float_moduli(exec_, solution_)
                                                       : fields.stress;
  const int components = num_components(name);
  fill_array(exec_, out, components * count(0), [&](const Array<float, Exec>& array) {
    Kokkos::parallel_for(
        "ossatura::python::field", range(exec_, fields.element.extent(0)),
        ScatterVoxels<Exec>{solution_.grid, fields.element, value, components, array});
  });
}

// K u = 0 at free components, so that du/dE_e = -K^-1 K_e u / E_e there; with K l = dJ/du, l = 0 at
// held components, dJ/dE_e = -l_e' K_e u_e / E_e.
template<class Exec>
BoneSolve AnswerOn<Exec>::adjoint(const double* weight, const BoneOptions& options,
                                  const BoneObserver& observe, double* out) const {
  const VoxelGrid<Exec>& grid = problem_.grid;
  const auto force = make_uninitialized<double>(exec_, grid.num_dofs(), "ossatura::python::weight");
  const auto l = make_zeros<double>(exec_, grid.num_dofs(), "ossatura::python::adjoint");
  Kokkos::parallel_for("ossatura::python::weight", range(exec_, grid.num_nodes),
                       GatherFreeNodes<Exec>{grid, problem_.held.mask,
                                             array_of(exec_, weight, 3 * count(1)), force});
  fence(exec_, "ossatura::python::weight");
  SolveResult solved;
  {
    VoxelSolver<Exec> solver(exec_, problem_, solver_options<Exec>(options));
    throw_if_cancelled();
    solved = solver.solve(exec_, force, l, observe);
  }
  add_products(exec_, stiffness_of(problem_), solution_.fields.element, -1, l,
               solution_.displacement, out);
  return numbers_of(solved);
}

RemodellingLaw library_law(const BoneAdaptation& adaptation) {
  RemodellingLaw law;
  law.coefficient = adaptation.coefficient;
  law.exponent = adaptation.exponent;
  law.stimulus = adaptation.stimulus;
  law.lazy = adaptation.lazy;
  law.rate = adaptation.rate;
  law.least = adaptation.least;
  law.most = adaptation.most;
  return law;
}

/// Of a rate that is too large, and of a stimulus in another unit, as the executable does.
void warn_of_states(const std::vector<RemodellingStep>& steps, const BoneAdaptation& adaptation) {
  if (const std::optional<double> change = find_oscillation(steps))
    log_warning("density-swings", "densities swing to and fro, by ", *change,
                " g/cm^3 a step in the mean, and do not settle, so that the last state is one of "
                "many: a rate of ",
                adaptation.rate, " is too large; take a smaller one, and more steps");
  else if (const std::optional<RangeEnd> end = find_common_end(steps))
    log_warning("odd-stimulus", "all bone has the ", *end == RangeEnd::least ? "least" : "largest",
                " density of the limits in the end, with a mean stimulus of ",
                steps.back().state.mean_stimulus, " J/g beside a stimulus of ", adaptation.stimulus,
                ": that is in J/g, so that 4 J/kg are 0.004; else look at the load");
}

/// Takes the steps of remodelling from a state that `solved` is the solve of, which becomes that of
/// the last state.
template<class Exec>
std::vector<BoneState> run_states(const Exec& exec, const Case<Exec>& made,
                                  const BoneAdaptation& adaptation, VoxelSolver<Exec>& solver,
                                  const BoneObserver& observe, SolveResult& solved) {
  BoneRemodelling<Exec> remodelling(library_law(adaptation), made.problem, made.load, solver,
                                    made.materials.foreign);
  std::vector<BoneState> states;
  std::vector<RemodellingStep> steps;
  while (solved.converged) {
    const bool is_last = int(states.size()) == adaptation.steps;
    const RemodellingStep step = remodelling.take(exec, !is_last);
    steps.push_back(step);
    const RemodellingState& s = step.state;
    states.push_back({step.mass, s.mean_density, s.mean_stimulus, s.forming, s.resorbing,
                      s.at_least, s.at_most, s.mean_change, step.strain_energy,
                      step.response ? step.response->stiffness : std::nullopt, solved.iterations,
                      solved.residual});
    if (is_last)
      break;
    throw_if_cancelled();
    solved = remodelling.solve(exec, observe);
  }
  if (solved.converged)
    warn_of_states(steps, adaptation);
  return states;
}

/// Adds statistics by label and forces through sections.
template<class Exec>
void add_labels(const Exec& exec, const BoneMask& mask, const BoneTest& test,
                const Case<Exec>& made, const BoneSolution<Exec>& solution, BoneNumbers& numbers) {
  const auto& foreign = made.materials.foreign;
  BoneSolution<Exec> bone = solution;
  if (foreign)
    bone.fields = without_foreign(exec, share_nodes(exec, made.problem), made.problem.grid,
                                  *foreign, made.problem.lame, solution.fields);
  const std::int64_t count = std::int64_t(mask.shape[0]) * mask.shape[1] * mask.shape[2];
  const LabelledImage image{mask.shape, {mask.label, mask.label + count}};
  const bool is_axial = test.kind == BoneTestKind::axial || test.kind == BoneTestKind::confined;
  const LabelResults found =
      evaluate_labels(exec, made.problem, made.load, solution, bone, foreign.has_value(), image,
                      is_axial ? std::optional(test.axis) : std::nullopt);
  for (const LabelStatistics& of : found.statistics)
    numbers.labels.push_back({of.label, of.num_elem, of.modulus_mean, of.sed_mean,
                              of.von_mises_mean, of.von_mises_max, of.effective_strain_mean,
                              of.effective_strain_max, of.energy_share});
  if (!found.sections)
    return;
  const SectionForces& sections = *found.sections;
  BoneSections& listed = numbers.sections.emplace();
  listed.axis = sections.axis;
  listed.labels = sections.labels;
  listed.position = sections.position;
  listed.force = sections.force;
  for (std::size_t k = 0; k < sections.labels.size(); ++k) {
    listed.label_force.emplace_back();
    for (std::size_t layer = 0; layer < sections.force.size(); ++layer)
      listed.label_force.back().push_back(sections.label_force(int(layer), k));
  }
  listed.begin = sections.begin;
  listed.end = sections.end;
  listed.reaction = sections.reaction;
}

template<class Exec>
std::unique_ptr<BoneAnswer> solve_on(const Exec& exec, const BoneImage& image,
                                     const std::optional<BoneMask>& mask, const BoneTest& test,
                                     const BoneAdaptation* adaptation, const BoneOptions& options,
                                     const BoneObserver& observe) {
  Case<Exec> made = make_case(
      exec, image, options, supported_sides(test),
      [&](VoxelProblem<Exec>& problem) { return make_test_load(exec, test, problem); },
      take_materials(exec, image, mask, test.axis, adaptation));
  drop_image(made);
  check_supports_of(exec, made);
  if (adaptation != nullptr && !has_one_ratio(made.problem))
    fail<InputError>("remodelling takes one Poisson's ratio: give pads that of the bone");
  SolveResult solved;
  std::vector<BoneState> states;
  { // the solver's vectors are gone before the fields are made
    VoxelSolverOptions solves = solver_options<Exec>(options);
    solves.multigrid.renewable = adaptation != nullptr;
    VoxelSolver<Exec> solver(exec, made.problem, solves);
    throw_if_cancelled();
    solved = solver.solve(exec, {}, made.load.u, observe);
    if (adaptation != nullptr)
      states = run_states(exec, made, *adaptation, solver, observe, solved);
  }
  BoneSolution<Exec> solution = evaluate_solution(exec, made.problem, made.load);
  BoneNumbers numbers = numbers_of(solution);
  numbers.model = describe(made);
  numbers.solve = numbers_of(solved);
  numbers.states = std::move(states);
  if (mask) {
    add_labels(exec, *mask, test, made, solution, numbers);
    const NodeBox box = bounding_box(exec, made.problem.grid);
    if (numbers.force)
      numbers.mask_area =
          image.spacing * image.spacing *
          mean_mask_section(made.materials.mask_layers, box.lower[test.axis], box.upper[test.axis]);
  }
  return std::make_unique<AnswerOn<Exec>>(exec, std::move(made.problem), std::move(solution),
                                          std::move(numbers));
}

/// Warns of a cell that does not carry along an axis, as the executable does.
template<class Exec>
void warn_of_open_cell(const Exec& exec, const VoxelProblem<Exec>& problem) {
  const PeriodicBodies bodies = find_periodic_bodies(exec, problem).second;
  if (const std::string axes = bodies.open_axes(); !axes.empty())
    log_warning("open-cell", "no bone leads from cell to cell along ", axes,
                ": the stiffness there is 0; void at the sides belongs to the cell");
}

/// Warns of sides that strain each part of the bone as if these were joined, as the executable
/// does.
template<class Exec>
void warn_of_parts(const Exec& exec, const VoxelProblem<Exec>& problem) {
  const PartShares parts = find_part_shares(exec, problem);
  if (!parts.is_in_one())
    log_warning("bone-in-parts", "the bone is in ", parts.num_parts,
                " parts that share no node, the largest of ", parts.largest, " of ",
                parts.num_voxels,
                " voxels: the sides strain each as if they were joined, and the stiffness is too "
                "large: keep the largest part alone");
  else
    warn_of_box(parts);
}

template<class Exec>
class HomogenisedOn : public BoneHomogenised, Holder {
public:
  HomogenisedOn(const Exec& exec, const BoneImage& image, const BoneOptions& options, bool periodic,
                bool keep, const BoneObserver& observe)
      : exec_(exec)
      , keep_(keep) {
    if (periodic)
      solve_cell(image, options, observe);
    else
      solve_box(image, options, observe);
    if (!keep)
      of_ = {};
  }
  void drop() noexcept override {
    of_ = {};
    u_.clear();
  }
  const BoneStiffness& numbers() const override { return numbers_; }
  void gradient(const BoneStiffness::Matrix& weight, double* out) const override;

private:
  Exec exec_;
  bool keep_;
  VoxelStiffness<Exec> of_;            ///< where displacements are kept
  double volume_ = 0;                  ///< mm3, that stresses are means over
  std::vector<Array<double, Exec>> u_; ///< of the six loads, where they are kept
  BoneStiffness numbers_;

  void solve_box(const BoneImage& image, const BoneOptions& options, const BoneObserver& observe);
  void solve_cell(const BoneImage& image, const BoneOptions& options, const BoneObserver& observe);
  void note(const HomogenisedStiffness& found) {
    numbers_.stiffness = found.stiffness;
    numbers_.voigt = found.voigt;
    numbers_.reuss = found.reuss;
  }
  /// Returns the copy, empty where none is kept.
  Array<double, Exec> keep(const Array<double, Exec>& u) {
    if (!keep_)
      return {};
    u_.push_back(make_uninitialized<double>(exec_, u.extent(0), "ossatura::python::displacement"));
    copy(exec_, u, u_.back());
    return u_.back();
  }
};

template<class Exec>
void HomogenisedOn<Exec>::solve_box(const BoneImage& image, const BoneOptions& options,
                                    const BoneObserver& observe) {
  Case<Exec> made = make_case(
      exec_, image, options, all_sides,
      [&](VoxelProblem<Exec>& problem) {
        hold_all_sides(exec_, problem);
        return BoneLoad<Exec>();
      },
      take_materials(exec_, image, {}, 0, nullptr));
  drop_image(made);
  warn_of_parts(exec_, made.problem);
  VoxelSolver<Exec> solver(exec_, made.problem, solver_options<Exec>(options));
  numbers_.model = describe(made);
  note(homogenise<Exec>(exec_, made.problem, [&](int, const Array<double, Exec>& u) {
         numbers_.solves.push_back(numbers_of(solver.solve(exec_, {}, u, observe)));
         keep(u);
         return true;
       }).value());
  of_ = stiffness_of(made.problem);
  const NodeBox box = bounding_box(exec_, of_.grid);
  volume_ = std::pow(of_.edge, 3);
  for (int d = 0; d < 3; ++d)
    volume_ *= box.upper[d] - box.lower[d];
}

template<class Exec>
void HomogenisedOn<Exec>::solve_cell(const BoneImage& image, const BoneOptions& options,
                                     const BoneObserver& observe) {
  Case<Exec> made = make_case(
      exec_, image, options, std::nullopt,
      [&](VoxelProblem<Exec>& problem) {
        problem.held =
            make_constraints(exec_, make_zeros<std::uint8_t>(exec_, problem.grid.num_nodes,
                                                             "ossatura::python::held"));
        return BoneLoad<Exec>();
      },
      take_materials(exec_, image, {}, 0, nullptr));
  numbers_.model = describe(made);
  warn_of_open_cell(exec_, made.problem);
  const UnitCell<Exec> cell = make_unit_cell(exec_, made.problem.material, image.spacing);
  made = {};
  VoxelSolver<Exec> solver(exec_, cell.problem, solver_options<Exec>(options));
  const auto& rim = *cell.problem.rim;
  of_ = {cell.problem.grid, cell.own, cell.problem.edge, rim.shape};
  volume_ = cell.volume;
  note(homogenise<Exec>(exec_, cell,
                        [&](int k, const Array<double, Exec>& f, const Array<double, Exec>& w) {
                          numbers_.solves.push_back(numbers_of(solver.solve(exec_, f, w, observe)));
                          if (const Array<double, Exec> u = keep(w); keep_) {
                            UniformStrain strain{};
                            strain[k] = 1;
                            add_uniform_strain(exec_, of_.grid, of_.edge, strain, u);
                          }
                          return true;
                        })
           .value());
}

// By Hill's lemma, exact for trilinear elements and sides that move as a uniform strain or
// periodically: C_ij V = u_i' K u_j. Both are stationary, so that dC_ij/dE_e = u_i' K_e u_j / (E_e
// V).
template<class Exec>
void HomogenisedOn<Exec>::gradient(const BoneStiffness::Matrix& weight, double* out) const {
  if (u_.empty())
    fail<UsageError>("the displacements were not kept: homogenise(..., gradients=True)");
  const Array<int, Exec> element = list_elements(exec_, of_.grid, of_.lame.mu_value);
  const auto sum =
      make_uninitialized<double>(exec_, of_.grid.num_dofs(), "ossatura::python::combination");
  for (std::size_t i = 0; i < 6; ++i) {
    Kokkos::deep_copy(exec_, sum, 0);
    for (std::size_t j = 0; j < 6; ++j)
      axpby(exec_, weight[i][j], u_[j], 1.0, sum);
    add_products(exec_, of_, element, 1 / volume_, u_[i], sum, out);
  }
}

} // namespace

BoneAnswer::~BoneAnswer() = default;
BoneHomogenised::~BoneHomogenised() = default;

int num_components(const std::string& name) {
  if (name == "strain" || name == "stress")
    return 6;
  return name == "energy_density" || name == "von_mises" || name == "effective_strain" ||
                 name == "modulus"
             ? 1
             : 0;
}

std::unique_ptr<BoneAnswer> solve_bone(const std::string& backend, const BoneImage& image,
                                       const std::optional<BoneMask>& mask, const BoneTest& test,
                                       const BoneOptions& options, const BoneObserver& observe) {
  return with_backend(backend, [&](const auto& exec) {
    return solve_on(exec, image, mask, test, nullptr, options, observe);
  });
}

std::unique_ptr<BoneAnswer> remodel_bone(const std::string& backend, const BoneImage& density,
                                         const std::optional<BoneMask>& mask, const BoneTest& test,
                                         const BoneAdaptation& adaptation,
                                         const BoneOptions& options, const BoneObserver& observe) {
  return with_backend(backend, [&](const auto& exec) {
    return solve_on(exec, density, mask, test, &adaptation, options, observe);
  });
}

std::unique_ptr<BoneHomogenised> homogenise_bone(const std::string& backend, const BoneImage& image,
                                                 const BoneOptions& options, bool periodic,
                                                 bool keep, const BoneObserver& observe) {
  return with_backend(backend, [&](const auto& exec) -> std::unique_ptr<BoneHomogenised> {
    return std::make_unique<HomogenisedOn<std::decay_t<decltype(exec)>>>(exec, image, options,
                                                                         periodic, keep, observe);
  });
}

} // namespace ossatura::python
