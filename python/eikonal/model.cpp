// SPDX-License-Identifier: Apache-2.0
#include "python/eikonal/model.hpp"

#include "python/engine/arrays.hpp"
#include "python/engine/runtime.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>
#include <ossatura/core/mesh/mechanics/folded_mesh.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/eikonal/activation_statistics.hpp>
#include <ossatura/solvers/eikonal/missing_directions.hpp>

#include <algorithm>
#include <optional>

namespace ossatura::python {

namespace {

TetraMesh copy_mesh(const EikonalMesh& mesh) {
  TetraMesh copy;
  copy.point.assign(mesh.point, mesh.point + 3 * mesh.num_points);
  copy.tetra.assign(mesh.tetra, mesh.tetra + 4 * mesh.num_tetra);
  if (mesh.tag != nullptr)
    copy.tag.assign(mesh.tag, mesh.tag + mesh.num_tetra);
  else
    copy.tag.assign(std::size_t(mesh.num_tetra), 0);
  if (mesh.fibre != nullptr)
    copy.fibre.assign(mesh.fibre, mesh.fibre + 3 * mesh.num_tetra);
  if (mesh.sheet != nullptr)
    copy.sheet.assign(mesh.sheet, mesh.sheet + 3 * mesh.num_tetra);
  return copy;
}

EikonalOptions library_options(const EikonalChoice& choice) {
  EikonalOptions options;
  options.deterministic = choice.deterministic;
  options.tolerance = choice.tolerance;
  options.max_iterations = choice.max_iterations;
  options.stop = is_cancelled;
  if (choice.method.empty())
    return options;
  std::string known;
  for (const Named<EikonalMethod>& entry : name_table<EikonalMethod>) {
    if (choice.method == entry.name) {
      options.method = entry.value;
      return options;
    }
    known += std::string(known.empty() ? "\"" : ", \"") + entry.name + "\"";
  }
  fail<UsageError>("method \"", choice.method, "\": choose one of ", known);
}

std::vector<EikonalSite> library_sites(const EikonalStart& set) {
  std::vector<EikonalSite> sites;
  for (const auto& [vertex, time] : set)
    sites.push_back({vertex, time});
  return sites;
}

TissueVelocities tissues(const EikonalVelocities& velocities) {
  TissueVelocities by_tag;
  for (const auto& [tag, v] : velocities.by_tag)
    by_tag[tag] = {v[0], v[1], v[2]};
  return by_tag;
}

template<class Exec>
std::vector<ConductionVelocity> tetrahedra(const Exec& exec, const EikonalVelocities& velocities) {
  const double* const v = velocities.by_tetra;
  const std::int64_t n = velocities.num_rows * velocities.num_columns;
  return tetra_velocities(is_device_memory(v) ? download(exec, array_of(exec, v, n))
                                              : std::vector<double>(v, v + n),
                          std::size_t(velocities.num_rows), "velocities");
}

template<class Exec, class Real>
class ModelOn : public EikonalModel, Holder {
public:
  ModelOn(const Exec& exec, const EikonalMesh& mesh, const EikonalVelocities& velocities,
          const EikonalChoice& choice)
      : exec_(exec)
      , tolerance_(choice.tolerance)
      , num_points_(mesh.num_points)
      , num_tetra_(mesh.num_tetra) {
    const EikonalOptions options = library_options(choice);
    const TetraMesh copy = copy_mesh(mesh);
    MeshVelocities of_mesh = on_host(velocities);
    if (velocities.by_tetra != nullptr)
      solver_ = std::make_unique<Solver>(exec, copy, of_mesh.by_tetra, options);
    else
      solver_ = std::make_unique<Solver>(exec, copy, of_mesh.by_tag, options);
    directions_.emplace(copy);
    warn_of_directions(of_mesh, velocities.is_one);
    // The solver has looked at the numbers of vertices.
    block_tissue(copy, {}, of_mesh);
    const std::string split = describe_split_tissue(find_coincident_nodes(copy, of_mesh.blocked));
    if (!split.empty())
      log_warning("split-mesh", "tetra: ", split);
    const std::string folded = describe_folded_tissue(find_folds(copy, of_mesh.blocked));
    if (!folded.empty())
      log_warning("folded-mesh", "tetra: ", folded);
  }
  void drop() noexcept override { solver_.reset(); }
  std::int64_t num_points() const override { return num_points_; }
  std::int64_t num_tetra() const override { return num_tetra_; }

  void set_velocities(const EikonalVelocities& velocities) override {
    const bool stays = velocities.by_tetra != nullptr && is_device_memory(velocities.by_tetra);
    if (stays)
      solver_->set_velocities(exec_, array_of(exec_, velocities.by_tetra,
                                              velocities.num_rows * velocities.num_columns));
    if (stays && directions_->has_all()) // what could be missing is not worth the way to the host
      return;
    const MeshVelocities of_mesh = on_host(velocities);
    if (!stays && velocities.by_tetra != nullptr)
      solver_->set_velocities(exec_, of_mesh.by_tetra);
    else if (!stays)
      solver_->set_velocities(exec_, of_mesh.by_tag);
    warn_of_directions(of_mesh, velocities.is_one);
  }

  EikonalNumbers solve(const std::vector<EikonalStart>& sets, void* times,
                       const EikonalObserver& observe) override {
    const std::size_t together = sets_together(sets.size());
    EikonalNumbers numbers;
    numbers.converged = numbers.is_steady = true;
    for (std::size_t first = 0; first < sets.size(); first += together) {
      std::vector<std::vector<EikonalSite>> sites;
      for (std::size_t set = first; set < std::min(first + together, sets.size()); ++set)
        sites.push_back(library_sites(sets[set]));
      EikonalResult solved;
      fill_array(exec_, static_cast<Real*>(times) + std::int64_t(first) * num_points_,
                 std::int64_t(sites.size()) * num_points_, [&](const Array<Real, Exec>& array) {
                   solved = solver_->solve(exec_, sites, array);
                 });
      throw_if_cancelled(); // the solver ends as if it were done
      add(solved, numbers);
      if (observe)
        observe(int(first + sites.size()), double(sets.size()));
    }
    warn_of_precision(numbers);
    return numbers;
  }

  std::vector<double> gradient(const EikonalStart& sites, const void* times, const double* weight,
                               double* by_velocity) override {
    std::vector<double> by_site;
    fill_array(exec_, by_velocity, 3 * num_tetra_, [&](const Array<double, Exec>& array) {
      by_site = solver_->gradient(exec_, library_sites(sites),
                                  array_of(exec_, static_cast<const Real*>(times), num_points_),
                                  array_of(exec_, weight, num_points_), array);
    });
    return by_site;
  }

private:
  MeshVelocities on_host(const EikonalVelocities& velocities) const {
    MeshVelocities of_mesh;
    if (velocities.by_tetra != nullptr)
      of_mesh.by_tetra = tetrahedra(exec_, velocities);
    else
      of_mesh.by_tag = tissues(velocities);
    return of_mesh;
  }

  /// Once, until velocities are without it.
  void warn_of_directions(const MeshVelocities& velocities, bool is_one) {
    using Kind = MissingDirections::Kind;
    const auto missing =
        directions_->find_missing(velocities, is_one ? TissueVelocities() : velocities.by_tag);
    if (missing && !lacks_directions_)
      log_warning("missing-directions", "velocities: ", missing->text,
                  missing->kind == Kind::fibres_of_tag ? "; give its fibres, or one velocity"
                  : missing->kind == Kind::some_of_tag
                      ? "; give them theirs, or a tag with one velocity where that is meant"
                      : "");
    lacks_directions_ = missing.has_value();
  }

  /// Sets that are solved as one. A device is filled by all of them; cores are not faster by more
  /// than a few, and an iteration of all, which ends before a solve does, may take seconds.
  std::size_t sets_together(std::size_t num_sets) const {
    if (BackendTraits<Exec>::is_device)
      return num_sets;
    constexpr std::int64_t tetra_together = 4000000;
    return std::size_t(std::max<std::int64_t>(1, tetra_together / num_tetra_));
  }

  void add(const EikonalResult& solved, EikonalNumbers& numbers) const {
    numbers.iterations = std::max(numbers.iterations, solved.iterations);
    const std::vector<ResultCheck> checks = check_activation<Real>(solved, tolerance_);
    numbers.is_steady = numbers.is_steady && solved.converged && checks.front().passed();
    numbers.converged = numbers.converged && numbers.is_steady && all_passed(checks);
    numbers.residual = std::max(numbers.residual, solved.residual);
    numbers.certificate = std::max(numbers.certificate, solved.certificate);
    numbers.certificate_ms = std::max(numbers.certificate_ms, solved.certificate_ms);
    numbers.seconds += solved.seconds;
    numbers.num_unreached.insert(numbers.num_unreached.end(), solved.num_unreached.begin(),
                                 solved.num_unreached.end());
  }

  /// Once, until a solve is without it.
  void warn_of_precision(const EikonalNumbers& numbers) {
    const bool is_coarse = numbers.is_steady && numbers.certificate > coarse_certificate;
    if (is_coarse && !is_coarse_)
      log_warning("coarse-precision", "single precision leaves errors of about ",
                  numbers.certificate, " of a time (", numbers.certificate_ms,
                  " ms): tetrahedra are flat, or velocities of one differ much; "
                  "precision=\"double\" does better");
    is_coarse_ = is_coarse;
  }

  using Solver = EikonalSolver<Exec, Real>;
  Exec exec_;
  bool is_coarse_ = false, lacks_directions_ = false; ///< as was warned of
  std::optional<TissueDirections> directions_;
  std::unique_ptr<Solver> solver_;
  double tolerance_;
  std::int64_t num_points_, num_tetra_;
};

template<class Exec>
std::unique_ptr<EikonalModel> make_on(const Exec& exec, const EikonalMesh& mesh,
                                      const EikonalVelocities& velocities,
                                      const EikonalChoice& choice) {
  if (choice.is_double)
    return std::make_unique<ModelOn<Exec, double>>(exec, mesh, velocities, choice);
  return std::make_unique<ModelOn<Exec, float>>(exec, mesh, velocities, choice);
}

} // namespace

EikonalModel::~EikonalModel() = default;

std::unique_ptr<EikonalModel> make_eikonal(const std::string& backend, const EikonalMesh& mesh,
                                           const EikonalVelocities& velocities,
                                           const EikonalChoice& choice) {
  return with_backend(backend,
                      [&](const auto& exec) { return make_on(exec, mesh, velocities, choice); });
}

} // namespace ossatura::python
