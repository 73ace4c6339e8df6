// SPDX-License-Identifier: Apache-2.0
#include "python/pfem/model.hpp"

#include "python/engine/arrays.hpp"
#include "python/engine/named.hpp"
#include "python/engine/runtime.hpp"
#include "python/pfem/quadratic_check.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/mesh/mechanics/odd_length.hpp>
#include <ossatura/core/mesh/turned_top.hpp>
#include <ossatura/core/pfem/hinges.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/elasticity_products.hpp>
#include <ossatura/kernels/pfem/sample_hexas.hpp>
#include <ossatura/solvers/pfem/held_loads.hpp>
#include <ossatura/solvers/pfem/loads.hpp>
#include <ossatura/solvers/pfem/reactions.hpp>
#include <ossatura/solvers/pfem/solver.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace ossatura::python {

namespace {

using Values = std::vector<double>;
using Triple = std::array<double, 3>;

struct MeshOf : PfemMesh {
  CurvedHexaMesh shape;
  bool says_unit; ///< of its lengths

  explicit MeshOf(CurvedHexaMesh of, bool has_unit = true)
      : shape(std::move(of))
      , says_unit(has_unit) {}
  Values points() const override { return shape.mesh.point; }
  std::vector<std::int32_t> elements() const override { return shape.mesh.node; }
  bool is_curved() const override { return shape.map != nullptr; }
};

HierarchicSolverOptions library_options(const PfemSolverChoice& choice) {
  HierarchicSolverOptions options;
  options.kind = named<HierarchicOperatorKind>(choice.operator_kind, "operator");
  options.preconditioner = named<HierarchicPreconditioner>(choice.preconditioner, "preconditioner");
  options.cg.tolerance = choice.tolerance;
  options.cg.max_iterations = choice.max_iterations;
  return options;
}

bool are_equal(const PfemSolverChoice& a, const PfemSolverChoice& b) {
  return a.preconditioner == b.preconditioner && a.operator_kind == b.operator_kind &&
         a.tolerance == b.tolerance && a.max_iterations == b.max_iterations;
}

double product(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// What a load acts on.
struct Load {
  PfemLoadKind kind;
  std::vector<std::int32_t> vertices;
  std::vector<ElementFace> faces;
  Triple value;
};

struct Hold {
  std::vector<std::int32_t> vertices;
  int components;
  std::vector<std::int32_t> points; ///< of the vertices, those without an edge to another one
};

/// The body's modes, and forces on them. Host memory.
struct Modes {
  std::shared_ptr<const MeshOf> mesh;
  HexaEntities entities;
  HierarchicNumbering numbering;
  HierarchicOptions options;

  const CurvedHexaMesh& shape() const { return mesh->shape; }
  std::size_t num_points() const { return shape().mesh.num_points(); }
  std::size_t num_elem() const { return shape().mesh.num_elem(); }
  std::size_t num_dofs() const { return 3 * std::size_t(numbering.num_modes); }
  /// Of quadrature along each axis for loads, as the executable takes them.
  int load_points() const {
    const int order = highest_order();
    return std::max(options.points > 0 ? options.points : order + 1, order + 2);
  }
  int highest_order() const {
    return *std::max_element(numbering.order.begin(), numbering.order.end());
  }

  /// Adds the forces of a load of that value.
  void add(const Load& load, const Triple& value, Values& force) const {
    if (load.kind == PfemLoadKind::body_force) {
      add_body_force(
          shape(), numbering, options.scaling, load_points(),
          [&value](const double(&)[3], double(&density)[3]) {
            std::copy(value.begin(), value.end(), density);
          },
          force);
    } else if (load.kind == PfemLoadKind::force) {
      for (const std::int32_t vertex : load.vertices)
        for (std::size_t c = 0; c < 3; ++c)
          force[3 * std::size_t(vertex) + c] += value[c];
    } else {
      const bool is_pressure = load.kind == PfemLoadKind::pressure;
      add_traction(
          shape(), numbering, options.scaling, load_points(), load.faces,
          [&value, is_pressure](const double(&)[3], const double(&normal)[3],
                                double(&traction)[3]) {
            for (std::size_t c = 0; c < 3; ++c)
              traction[c] = is_pressure ? -value[0] * normal[c] : value[c];
          },
          force);
    }
  }

  /// What of a load acts where `held` [num_modes] holds the body.
  HeldLoads held_of(const Load& load, const std::vector<std::uint8_t>& held) const {
    HeldLoads loads;
    if (load.kind == PfemLoadKind::force)
      for (const std::int32_t vertex : load.vertices)
        add_held_force(vertex, load.value, held, loads);
    else if (load.kind != PfemLoadKind::body_force)
      add_held_tractions(shape(), load.faces, load.kind == PfemLoadKind::pressure, load.value, held,
                         loads);
    return loads;
  }
};

std::vector<std::int32_t> vertices_of(const std::vector<std::uint8_t>& chosen) {
  std::vector<std::int32_t> vertices;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0)
      vertices.push_back(std::int32_t(i));
  return vertices;
}

/// Elements and solver, for the elasticity and the supports that they were made with.
template<class Exec>
struct System {
  Modes modes;
  std::vector<std::uint8_t> held; ///< [num_modes]
  HierarchicModel<Exec> elements;
  std::unique_ptr<HierarchicSolver<Exec>> solver;
  PfemSolverChoice choice; ///< of the solver

  HierarchicSolver<Exec>& solver_for(const Exec& exec, const PfemSolverChoice& wanted) {
    if (!solver || !are_equal(choice, wanted)) {
      solver.reset();
      const HierarchicSolverOptions options = library_options(wanted);
      try {
        solver = std::make_unique<HierarchicSolver<Exec>>(exec, modes.shape(), modes.numbering,
                                                          elements, held, options);
      } catch (const std::invalid_argument& error) {
        if (options.kind == HierarchicOperatorKind::automatic)
          throw;
        fail<UsageError>("operator \"", wanted.operator_kind, "\": ", without_place(error.what()),
                         ": take \"auto\", which fits all elements");
      }
      choice = wanted;
      throw_if_cancelled();
    }
    return *solver;
  }
  bool is_held(std::size_t dof) const { return (held[dof / 3] >> dof % 3 & 1) != 0; }
};

PfemSolve numbers_of(const SolveResult& solved) {
  return {solved.iterations, solved.residual, solved.converged, solved.in_energy, solved.broken};
}

template<class Exec>
class AnswerOf : public PfemAnswer, Holder {
public:
  AnswerOf(const Exec& exec, std::shared_ptr<System<Exec>> system, std::vector<Load> loads,
           const std::vector<Hold>& holds, Values force, const Array<double, Exec>& u,
           const SolveResult& solved)
      : exec_(exec)
      , system_(std::move(system))
      , loads_(std::move(loads))
      , force_(std::move(force))
      , u_(u)
      , host_u_(download(exec, u)) {
    const HierarchicSolver<Exec>& solver = *system_->solver;
    const auto internal = make_zeros<double>(exec, std::int64_t(u.extent(0)), "internal");
    solver.apply(exec, u, internal);
    internal_ = download(exec, internal);
    numbers_.solve = numbers_of(solved);
    numbers_.strain_energy =
        0.5 * product(internal_, without_settlement(
                                     host_u_, std::size_t(system_->modes.numbering.edge_begin)));
    numbers_.compliance = product(force_, host_u_);
    numbers_.num_modes = system_->modes.numbering.num_modes;
    for (std::size_t i = 0; i < host_u_.size(); ++i)
      numbers_.num_unknowns += system_->is_held(i) ? 0 : 1;
    numbers_.operator_kind = name_of(solver.kind());
    numbers_.preconditioner = solver.describe();
    std::vector<SupportedVertices> supports;
    for (const Hold& hold : holds)
      supports.push_back({std::uint8_t(hold.components), hold.vertices, hold.points});
    SupportReactions found =
        find_reactions(supports, force_, internal_, system_->held, system_->modes.num_points());
    numbers_.reactions = std::move(found.of_support);
    if (solved.converged)
      warn_of_point_supports(supports, found.of_points);
    if (!(numbers_.strain_energy > 0) || std::isinf(numbers_.strain_energy))
      fail<InputError>("the strain energy is ", numbers_.strain_energy,
                       " J: lengths, moduli or loads are too small or too large to compute with");
  }
  void drop() noexcept override {
    system_.reset();
    u_ = {};
  }
  const PfemNumbers& numbers() const override { return numbers_; }
  Values displacement() const override {
    return {host_u_.begin(), host_u_.begin() + std::ptrdiff_t(3 * system_->modes.num_points())};
  }
  PfemSamples sample(int points) const override;
  PfemGradient gradient(const std::string& quantity, const PfemSolverChoice& choice,
                        const PfemObserver& observe) const override;
  PfemGradient adjoint(const double* weight, const PfemSolverChoice& choice,
                       const PfemObserver& observe) const override {
    Values by_u(host_u_.size(), 0.0); // a vertex moves by its own mode alone
    std::copy(weight, weight + 3 * system_->modes.num_points(), by_u.begin());
    return differentiate(by_u, 0, choice, observe);
  }

private:
  Exec exec_;
  std::shared_ptr<System<Exec>> system_;
  std::vector<Load> loads_;
  Values force_;
  Array<double, Exec> u_;
  Values host_u_, internal_; ///< u, K u
  PfemNumbers numbers_;

  void warn_of_point_supports(const std::vector<SupportedVertices>& supports,
                              const std::vector<double>& parts) const {
    const int order = system_->modes.highest_order();
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (has_point_supports(parts[k], order))
        log_warning("point-supports", "hold ", k, ": ", supports[k].points.size(),
                    supports[k].points.size() == 1 ? " vertex that is held alone takes "
                                                   : " vertices that are held alone take ",
                    100 * parts[k], " % of the reactions, and elements are of order ", order,
                    ": displacements by a force on a point grow with the order without a limit; "
                    "hold edges or faces");
  }
  bool has_displacement() const {
    for (std::size_t i = 0; i < host_u_.size(); ++i)
      if (system_->is_held(i) && host_u_[i] != 0)
        return true;
    return false;
  }
  PfemGradient differentiate(const Values& by_u, double by_stiffness,
                             const PfemSolverChoice& choice, const PfemObserver& observe) const;
  PfemGradient collect(const Array<double, Exec>& l, double factor, double by_stiffness,
                       double by_force, const Values& host_l) const;
};

// J(u, K, f) with K u = f at free components: with K l = dJ/du there, l = 0 at held ones,
//
//   dJ/dD = -l' dK/dD u + by_stiffness u' dK/dD u,   dJ/df = l + by_force u.
template<class Exec>
PfemGradient AnswerOf<Exec>::collect(const Array<double, Exec>& l, double factor,
                                     double by_stiffness, double by_force,
                                     const Values& host_l) const {
  const Modes& modes = system_->modes;
  PfemGradient gradient;
  const auto out = make_zeros<double>(exec_, std::int64_t(modes.num_elem()) * elasticity_entries,
                                      "ossatura::python::by_elasticity");
  if (factor != 0)
    add_elasticity_products(exec_, system_->elements, -factor, l, u_, out);
  if (by_stiffness != 0)
    add_elasticity_products(exec_, system_->elements, by_stiffness, u_, u_, out);
  gradient.elasticity = download(exec_, out);
  Values by_mode(host_u_.size());
  for (std::size_t i = 0; i < by_mode.size(); ++i)
    by_mode[i] = factor * host_l[i] + by_force * host_u_[i];
  for (const Load& load : loads_) {
    Triple slope{};
    for (std::size_t c = 0; c < (load.kind == PfemLoadKind::pressure ? 1u : 3u); ++c) {
      Triple unit{};
      unit[c] = 1;
      Values force(by_mode.size(), 0.0);
      modes.add(load, unit, force);
      slope[c] = product(force, by_mode);
    }
    gradient.loads.push_back(slope);
  }
  return gradient;
}

template<class Exec>
PfemGradient AnswerOf<Exec>::differentiate(const Values& by_u, double by_stiffness,
                                           const PfemSolverChoice& choice,
                                           const PfemObserver& observe) const {
  Values right = by_u;
  for (std::size_t i = 0; i < right.size(); ++i)
    if (system_->is_held(i))
      right[i] = 0;
  const auto l = make_zeros<double>(exec_, std::int64_t(right.size()), "ossatura::python::adjoint");
  HierarchicSolver<Exec>& solver = system_->solver_for(exec_, choice);
  const SolveResult solved =
      solver.solve(exec_, upload(exec_, "ossatura::python::by_u", right), l, observe);
  PfemGradient gradient = collect(l, 1, by_stiffness, 0, download(exec_, l));
  gradient.solve = numbers_of(solved);
  return gradient;
}

// The strain energy 1/2 u' K u has dJ/du = K u, the compliance f . u has f. Where nothing is
// displaced, l = u for both, and no further solve is needed.
template<class Exec>
PfemGradient AnswerOf<Exec>::gradient(const std::string& quantity, const PfemSolverChoice& choice,
                                      const PfemObserver& observe) const {
  const bool is_energy = quantity == "strain_energy";
  if (!is_energy && quantity != "compliance")
    fail<UsageError>("gradient \"", quantity, "\": \"strain_energy\" or \"compliance\"");
  if (has_displacement()) {
    if (is_energy)
      return differentiate(internal_, 0.5, choice, observe);
    PfemGradient found = differentiate(force_, 0, choice, observe);
    const PfemGradient by_force = collect(u_, 0, 0, 1, host_u_); // f itself is in f . u
    for (std::size_t k = 0; k < found.loads.size(); ++k)
      for (std::size_t c = 0; c < 3; ++c)
        found.loads[k][c] += by_force.loads[k][c];
    return found;
  }
  PfemGradient found = is_energy ? collect(u_, 1, 0.5, 0, host_u_) : collect(u_, 1, 0, 1, host_u_);
  found.solve = numbers_.solve;
  return found;
}

template<class Exec>
PfemSamples AnswerOf<Exec>::sample(int points) const {
  if (points < 2 || points > 100)
    fail<UsageError>(points, " points along each axis: 2 to 100");
  const CurvedHexaMesh& shape = system_->modes.shape();
  const auto map = shape.map ? shape.map : make_trilinear_map(shape.mesh);
  Values xi(std::size_t(points), 0.0);
  const std::size_t n = xi.size(), cube = n * n * n, num_elem = system_->modes.num_elem();
  for (std::size_t q = 0; q < n; ++q)
    xi[q] = -1 + 2.0 * double(q) / double(points - 1);
  PfemSamples all{Values(3 * cube * num_elem), Values(3 * cube * num_elem),
                  Values(6 * cube * num_elem), Values(cube * num_elem)};
  for (const HexaBatch<Exec>& batch : system_->elements.batch) {
    const std::vector<int> elem = download(exec_, batch.elem);
    Values position(3 * cube * elem.size()), jacobian(9 * cube * elem.size());
    evaluate_at_grid(*map, elem.data(), elem.size(), xi, position.data(), jacobian.data());
    const std::int64_t count = std::int64_t(cube * elem.size());
    const char* const label = "ossatura::python::samples";
    const HexaSamples<Exec> samples{make_uninitialized<double>(exec_, 3 * count, label),
                                    make_uninitialized<double>(exec_, 6 * count, label),
                                    make_uninitialized<double>(exec_, count, label)};
    sample_hexas(exec_, batch, make_hexa_grid(exec_, batch, xi), 0, batch.num_elem,
                 upload(exec_, "ossatura::python::jacobian", jacobian), u_, samples);
    const auto put = [&](const Values& values, std::size_t width, Values& to) {
      for (std::size_t k = 0; k < elem.size(); ++k)
        std::copy_n(&values[width * cube * k], width * cube,
                    &to[width * cube * std::size_t(elem[k])]);
    };
    put(position, 3, all.position);
    put(download(exec_, samples.displacement), 3, all.displacement);
    put(download(exec_, samples.stress), 6, all.stress);
    put(download(exec_, samples.energy), 1, all.energy);
  }
  return all;
}

template<class Exec>
class PfemModelOn : public PfemModel, Holder {
public:
  PfemModelOn(const Exec& exec, const std::shared_ptr<const PfemMesh>& mesh,
              const std::vector<std::uint8_t>& order, Values elasticity, const PfemChoice& choice)
      : exec_(exec)
      , elasticity_(std::move(elasticity)) {
    modes_.mesh = std::dynamic_pointer_cast<const MeshOf>(mesh);
    const ElementMesh& hexa = modes_.shape().mesh;
    modes_.entities = make_hexa_entities(hexa);
    modes_.numbering = make_hierarchic_numbering(
        hexa, modes_.entities, choice.is_tensor ? HexaSpace::tensor : HexaSpace::trunk, order);
    modes_.options.points = choice.points;
    held_.assign(std::size_t(modes_.numbering.num_modes), 0);
    displacement_.assign(modes_.num_dofs(), 0);
    make_elements(); // or throws for what D and elements cannot be
    if (const std::string turned = describe_turned_top(hexa); !turned.empty())
      fail<InputError>("hexa: ", turned);
    if (const std::string doubt = describe_coincident(find_coincident_nodes(hexa)); !doubt.empty())
      log_warning("split-mesh", "hexa: ", doubt);
    warn_of_length();
  }
  void drop() noexcept override { system_.reset(); }

  void set_elasticity(Values elasticity) override {
    Values before = std::move(elasticity_);
    elasticity_ = std::move(elasticity);
    try {
      make_elements();
    } catch (...) {
      elasticity_ = std::move(before);
      throw;
    }
  }

  void hold(const std::vector<std::uint8_t>& chosen, int components,
            const Triple& displacement) override;
  int add_load(PfemLoadKind kind, const std::vector<std::uint8_t>& chosen,
               const Triple& value) override {
    Load load{kind, vertices_of(chosen), {}, value};
    if (kind == PfemLoadKind::pressure || kind == PfemLoadKind::traction) {
      load.faces = whole_boundary_faces(modes_.shape().mesh, modes_.entities, chosen);
      if (load.faces.empty())
        fail<InputError>(
            "none of the faces of the boundary has all of its four vertices among the ",
            load.vertices.size(), " chosen ones: choose more, or add_force() on each");
    }
    loads_.push_back(std::move(load));
    return int(loads_.size()) - 1;
  }
  void set_load(int number, const Triple& value) override {
    if (number < 0 || number >= int(loads_.size()))
      fail<UsageError>("load ", number, ": there are ", loads_.size(), ", from 0");
    loads_[std::size_t(number)].value = value;
  }
  std::unique_ptr<PfemAnswer> solve(const PfemSolverChoice& choice,
                                    const PfemObserver& observe) override;

private:
  void warn_of_length() const {
    const double stiffest = *std::max_element(elasticity_.begin(), elasticity_.end());
    const auto length = modes_.mesh->says_unit
                            ? std::nullopt
                            : find_odd_length(bounding_box(modes_.shape().mesh.point), stiffest);
    if (length)
      log_warning(
          "odd-size", "points: the body is ", *length,
          " m long, for lengths are in m where nothing says otherwise: of a mesh in mm give "
          "Mesh() unit=0.001, of one as long as that unit=1");
  }

  Exec exec_;
  Modes modes_;
  Values elasticity_;
  std::vector<std::uint8_t> held_; ///< [num_modes]
  Values displacement_;            ///< [num_modes, 3], prescribed
  std::vector<Hold> holds_;
  std::vector<Load> loads_;
  std::shared_ptr<System<Exec>> system_; ///< of what was solved last; answers keep it, too

  void make_elements() {
    auto system = std::make_shared<System<Exec>>();
    system->modes = modes_;
    system->held = held_;
    system->elements = make_hierarchic_model(exec_, modes_.shape(), modes_.numbering,
                                             {elasticity_, {}}, modes_.options);
    system_ = std::move(system);
  }
  void check_supports() const;
  Values forces() const;
  std::vector<NodeDisplacement> prescribed() const; ///< of vertices
};

template<class Exec>
void PfemModelOn<Exec>::hold(const std::vector<std::uint8_t>& chosen, int components,
                             const Triple& displacement) {
  Hold hold{vertices_of(chosen), components,
            lone_vertices(modes_.shape().mesh, modes_.entities, chosen)};
  const std::vector<std::int32_t> modes =
      modes_of_boundary(modes_.shape().mesh, modes_.entities, modes_.numbering, chosen);
  std::vector<std::uint8_t> held = held_;
  Values u = displacement_;
  for (const std::int32_t mode : modes)
    for (std::size_t c = 0; c < 3; ++c) {
      if ((components >> c & 1) == 0)
        continue;
      // A constant is what the functions of vertices add up to.
      const double wanted = std::size_t(mode) < modes_.num_points() ? displacement[c] : 0;
      std::uint8_t& mask = held[std::size_t(mode)];
      double& value = u[3 * std::size_t(mode) + c];
      if ((mask >> c & 1) != 0 && value != wanted)
        fail<InputError>("vertex ", mode, " is moved by ", wanted, " m along ", "xyz"[c],
                         " here, and by ", value, " m by another hold(): leave one of them out");
      mask = std::uint8_t(mask | 1u << c);
      value = wanted;
    }
  held_ = std::move(held);
  displacement_ = std::move(u);
  holds_.push_back(std::move(hold));
}

template<class Exec>
void PfemModelOn<Exec>::check_supports() const {
  std::vector<HeldComponents> vertices;
  for (std::size_t i = 0; i < modes_.num_points(); ++i)
    if (held_[i] != 0)
      vertices.push_back({std::int32_t(i), held_[i]});
  const std::string motion = describe_free_motion(modes_.shape().mesh, vertices);
  if (!motion.empty())
    fail<InputError>(motion, ": hold() more vertices or components");
}

/// Of all loads, [num_modes, 3]. Refuses those that move nothing, and warns of those that supports
/// take at once.
template<class Exec>
std::vector<NodeDisplacement> PfemModelOn<Exec>::prescribed() const {
  std::vector<NodeDisplacement> values;
  for (std::size_t i = 0; i < 3 * modes_.num_points(); ++i)
    if ((held_[i / 3] >> i % 3 & 1) != 0)
      values.push_back({std::int32_t(i / 3), int(i % 3), displacement_[i]});
  return values;
}

template<class Exec>
Values PfemModelOn<Exec>::forces() const {
  const bool moves =
      std::any_of(displacement_.begin(), displacement_.end(), [](double x) { return x != 0; });
  bool is_loaded = false, is_pushed = false;
  std::vector<std::size_t> lost;
  std::map<std::size_t, HeldLoads> lost_in_part;
  Values force(displacement_.size(), 0.0);
  for (std::size_t number = 0; number < loads_.size(); ++number) {
    Values one(force.size(), 0.0);
    modes_.add(loads_[number], loads_[number].value, one);
    bool is_load = false, acts = false;
    for (std::size_t i = 0; i < one.size(); ++i) {
      is_load = is_load || one[i] != 0;
      acts = acts || (one[i] != 0 && (held_[i / 3] >> i % 3 & 1) == 0);
      force[i] += one[i];
    }
    if (is_load && !acts)
      lost.push_back(number);
    else if (const HeldLoads held = modes_.held_of(loads_[number], held_); held.is_part())
      lost_in_part[number] = held;
    is_loaded = is_loaded || is_load;
    is_pushed = is_pushed || acts;
  }
  if (!moves && !is_pushed)
    fail<InputError>(is_loaded ? "all loads act where the body is held, and do nothing: load other "
                                 "parts, or free these"
                               : "there are no loads: add some, or hold() with a displacement");
  if (!is_pushed && is_rigid_motion(modes_.shape().mesh.point, prescribed()))
    fail<InputError>("the displacements that hold() gives move the body as a rigid body, which "
                     "strains nothing: hold some at 0 in place of moving them, or move them "
                     "against others");
  if (const std::optional<std::int32_t> hinge =
          find_loaded_hinge(modes_.shape(), modes_.entities, modes_.numbering, held_, force))
    fail<InputError>("what the loads push can turn about vertex ", *hinge,
                     ", where elements touch others along an edge or in a corner alone, which is a "
                     "hinge: join them by faces, or hold more vertices");
  for (std::size_t number = 0; number < loads_.size(); ++number)
    if (loads_[number].kind == PfemLoadKind::force &&
        has_point_forces(loads_[number].vertices.size(), modes_.highest_order()))
      log_warning("point-forces", "load ", number, ": ", loads_[number].vertices.size(),
                  loads_[number].vertices.size() == 1 ? " vertex has a force of its own"
                                                      : " vertices have forces of their own",
                  ", and elements are of order ", modes_.highest_order(),
                  ": the energy of a force on a point grows with the order without a limit; spread "
                  "it over faces, by add_traction() or add_pressure()");
  for (const std::size_t number : lost)
    log_warning("lost-load", "load ", number,
                ": all of its forces act where the body is held, and do nothing: load other parts, "
                "or free these");
  for (const auto& [number, held] : lost_in_part)
    log_warning("lost-load", "load ", number, ": ", held.lost, " of ", held.components,
                " components of forces act where the body is held, and do nothing (vertex ",
                held.first_lost, " is the first): load other parts, or free these");
  return force;
}

template<class Exec>
std::unique_ptr<PfemAnswer> PfemModelOn<Exec>::solve(const PfemSolverChoice& choice,
                                                     const PfemObserver& observe) {
  check_supports();
  Values force = forces();
  if (!system_)
    make_elements();
  if (system_->held != held_) { // answers go on with the one of before
    auto system = std::make_shared<System<Exec>>();
    system->modes = modes_;
    system->held = held_;
    system->elements = system_->elements;
    system_ = std::move(system);
  }
  const Array<double, Exec> u = upload(exec_, "ossatura::python::displacement", displacement_);
  HierarchicSolver<Exec>& solver = system_->solver_for(exec_, choice);
  const SolveResult solved =
      solver.solve(exec_, upload(exec_, "ossatura::python::force", force), u, observe);
  return std::make_unique<AnswerOf<Exec>>(exec_, system_, loads_, holds_, std::move(force), u,
                                          solved);
}

} // namespace

PfemMesh::~PfemMesh() = default;
PfemAnswer::~PfemAnswer() = default;
PfemModel::~PfemModel() = default;

std::shared_ptr<const PfemMesh> make_pfem_mesh(std::vector<double> point,
                                               std::vector<std::int32_t> node,
                                               std::vector<double> quadratic, bool says_unit) {
  CurvedHexaMesh shape;
  shape.mesh.shape = ElementShape::hexa;
  shape.mesh.point = std::move(point);
  shape.mesh.node = std::move(node);
  if (const auto twice = find_duplicate_element(shape.mesh.node, 8))
    fail<InputError>("hexa: element ", twice->second, " has the same nodes as element ",
                     twice->first, ": it would count twice; remove one of the two");
  const HexaEntities entities = make_hexa_entities(shape.mesh); // throws for what is none
  if (!quadratic.empty()) {
    if (const std::string fault = describe_quadratic_fault(shape.mesh, entities, quadratic);
        !fault.empty())
      fail<InputError>("quadratic: ", fault);
    shape.map = make_quadratic_map(std::move(quadratic));
  }
  return std::make_shared<const MeshOf>(std::move(shape), says_unit);
}

std::shared_ptr<const PfemMesh> make_pfem_sphere(double inner, double outer, int along,
                                                 int across) {
  return std::make_shared<const MeshOf>(make_sphere_octant(inner, outer, along, across));
}

std::shared_ptr<const PfemMesh> make_pfem_cylinder(double inner, double outer, double height,
                                                   int along, int across, int up) {
  return std::make_shared<const MeshOf>(
      make_cylinder_quarter(inner, outer, height, along, across, up));
}

std::unique_ptr<PfemModel> make_pfem(const std::string& backend,
                                     const std::shared_ptr<const PfemMesh>& mesh,
                                     const std::vector<std::uint8_t>& order, Values elasticity,
                                     const PfemChoice& choice) {
  return with_backend(backend, [&](const auto& exec) -> std::unique_ptr<PfemModel> {
    return std::make_unique<PfemModelOn<std::decay_t<decltype(exec)>>>(
        exec, mesh, order, std::move(elasticity), choice);
  });
}

} // namespace ossatura::python
