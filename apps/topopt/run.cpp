// SPDX-License-Identifier: Apache-2.0
// A run goes from problem and set-up through step after step, writes results as the steps come, and
// analyses the last design.
#include "apps/driver/command_line_model.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/files/frame_writer.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/driver/ranks.hpp"
#include "apps/topopt/command.hpp"
#include "apps/topopt/input/levels.hpp"
#include "apps/topopt/input/start_design.hpp"
#include "apps/topopt/output/checkpoint.hpp"
#include "apps/topopt/output/files.hpp"
#include "apps/topopt/output/history.hpp"
#include "apps/topopt/output/report.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/mesh/cube_lattice.hpp>
#include <ossatura/solvers/topopt/bound/compliance_bound.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>
#include <ossatura/solvers/topopt/start.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace ossatura {

namespace {

/// What files show of the present design. Displacements and energies are those of the last solves.
template<class Exec>
DesignFields fields_of(const Exec& exec, const DesignOptimizer<Exec>& optimizer,
                       const TopoptModel& model, bool solved) {
  DesignFields fields;
  fields.density = optimizer.densities(exec);
  const DesignOptions& options = model.options;
  if (options.filter == DesignFilter::density || options.filter == DesignFilter::helmholtz ||
      options.process.any())
    fields.variable = optimizer.variables(exec);
  if (!solved)
    return fields;
  fields.energy = optimizer.energies(exec);
  for (const DesignLimit& limit : model.problem.limits)
    if (limit.kind == DesignLimitKind::stress && fields.stress.empty())
      fields.stress = optimizer.stresses(exec);
  for (std::size_t i = 0; i < model.problem.cases.size(); ++i) {
    fields.displacement.push_back(optimizer.displacements(exec, int(i)));
    fields.weight.emplace_back();
    if (!model.problem.cases[i].loads.body.empty())
      fields.weight.back() = optimizer.body_forces(exec, int(i));
    fields.thermal_force.emplace_back();
    if (!model.problem.cases[i].loads.warming.empty())
      fields.thermal_force.back() = optimizer.thermal_forces(exec, int(i));
  }
  return fields;
}

/// How many cubes along an edge the surface is solved with again, 0: it is not.
int reanalysis_of(const TopoptCommandOptions& options, const TopoptModel& model) {
  return options.reanalyse.value_or(model.options.grid == DesignGrid::voxels ? 1 : 0);
}

/// For what is not needed to go on: after a signal to any rank it ends at once.
void throw_if_signalled(const Communicator& world) {
  if (world.any(is_interrupted()))
    throw Interrupted{noted_interrupt()};
}

constexpr const char* stopped = "stopped by a signal";

/// What the surface encloses (m), solved as the design was.
template<class Exec>
ReanalysisSummary reanalyse_surface(const Exec& exec, const Communicator& world,
                                    const TopoptModel& model, const TriangleSurface& surface,
                                    int refine) {
  const Stopwatch watch;
  const TimedScope scope("ossatura::topopt::reanalyse");
  ReanalysisSummary summary;
  try {
    throw_if_signalled(world);
    const SurfaceBody body = make_surface_body(model.problem, model.supported, surface, refine);
    summary.edge = body.edge;
    summary.volume = body.volume;
    summary.left_out = body.left_out;
    summary.num_supported = body.num_supported;
    summary.num_supports = body.num_supports;
    summary.moved = body.moved;
    log_info("solving the surface again as ", format_count(body.problem.lattice->num_elem()),
             " cubes");
    summary.solution =
        reanalyse(exec, body, model.options, [&world](int, double) { throw_if_signalled(world); });
  } catch (const Interrupted&) {
    summary.failure = stopped;
    summary.is_stopped = true;
  } catch (const NotReanalysed& reason) {
    summary.failure = reason.what();
  } catch (const InputError& reason) { // more nodes than have numbers
    summary.failure = reason.what();
  } catch (const std::invalid_argument& reason) { // more cubes along an axis than can be filled
    summary.failure = library_message(reason);
  }
  summary.seconds = watch.seconds();
  return summary;
}

/// How far the compliance is from the best one; what there is of it after a signal, to any rank.
template<class Exec>
BoundSummary find_bound(const Exec& exec, const Communicator& world,
                        DesignOptimizer<Exec>& optimizer) {
  const Stopwatch watch;
  const TimedScope scope("ossatura::topopt::bound");
  BoundSummary summary;
  log_info("looking for a bound of the compliance");
  try {
    summary.found = optimizer.bound_compliance(exec, {}, [&] {
      summary.is_stopped = world.any(is_interrupted());
      return !summary.is_stopped;
    });
  } catch (const Interrupted&) { // within a solve that takes long
    summary.is_stopped = true;
  }
  if (!summary.is_known())
    summary.reason = summary.is_stopped ? stopped : summary.found.breakdown;
  summary.seconds = watch.seconds();
  return summary;
}

/// Whether ranks solve together. Throws UsageError for what they cannot divide.
bool divides_model(const TopoptCommandOptions& options, const TopoptModel& model, int num_ranks) {
  const bool is_asked = options.split == TopoptSplit::model;
  if (num_ranks == 1 && !is_asked)
    return false;
  const std::string who = num_ranks == 1 ? "--split model"
                                         : "a launcher started " + std::to_string(num_ranks) +
                                               " processes, and ossatura topopt";
  if (count_frequencies(model.problem, model.options) > 0)
    fail<UsageError>(who, " divides no designs with natural frequencies",
                     num_ranks == 1 ? ": leave it out" : ": start one process");
  if (model.options.grid == DesignGrid::voxels && !model.problem.solids)
    return true;
  fail<UsageError>(who, " divides designs of equal cubes alone (--grid voxels); ", model.source,
                   model.problem.solids
                       ? " has other elements"
                       : " is solved on a mesh: take --grid voxels where it is of equal cubes",
                   num_ranks == 1 ? ", or leave it out" : ", or start one process");
}

void require_bound(const TopoptCommandOptions& options, const TopoptModel& model) {
  const std::string reason = describe_no_bound(model.problem, model.options);
  if (options.bound && !reason.empty())
    fail<UsageError>("--bound is of least compliance within a volume, but ", reason,
                     ": leave it out");
}

/// Refuses what cannot be solved again before a long run.
void require_reanalysable(const TopoptCommandOptions& options, const TopoptModel& model) {
  if (options.reanalyse.value_or(0) == 0)
    return;
  if (model.options.objective == DesignObjective::mechanism)
    fail<UsageError>("--reanalyse is of designs that are stiff: leave it out of a mechanism");
  if (model.problem.lattice)
    return;
  if (model.problem.solids)
    fail<UsageError>("--reanalyse fills the surface with the cubes of the mesh, but ", model.source,
                     " has other elements than hexahedra of eight nodes: leave it out");
  try {
    find_cube_lattice(model.problem.mesh);
  } catch (const std::invalid_argument& error) {
    fail<UsageError>("--reanalyse fills the surface with the cubes of the mesh, but ", model.source,
                     " is of other elements (", library_message(error), "): leave it out");
  }
}

/// Everything that is written while a run goes on. Of several ranks the first one writes; all call
/// what may need the others, which is all but wait().
class Recorder {
public:
  Recorder(const TopoptCommandOptions& options, const TopoptModel& model, int first_step,
           const std::string& stem, DriverContext& context)
      : options_(options)
      , model_(model)
      , at_(&model)
      , context_(context)
      , writes_(context.world().is_first())
      , writer_(context) {
    const auto history = context.claim_file(options.history, stem + ".csv");
    if (history && writes_)
      files_.push_back(*history);
    if (!options.no_hdf)
      if (const auto path = context.output_file(options.hdf, stem + ".hdf")) {
        design_ = without_hdf(*path) + ".hdf";
        context.claim_output(design_);
        if (options.vtk_every) {
          context.claim_output(without_hdf(design_) + ".hdf.series");
          // The frame of the checkpoint's own step stays.
          frames_ = std::make_unique<FrameList>(design_, first_step > 0 ? first_step + 1 : 0);
          context.keep_earlier(frames_->earlier_paths());
        }
      }
    if (!options.no_stl)
      stl_ = context.claim_file(options.stl, stem + ".stl").value_or("");
    if (!options.file_3mf.empty())
      file_3mf_ = context.claim_file(options.file_3mf, "").value_or("");
    if (!options.checkpoint.empty()) {
      checkpoint_ =
          context.claim_checkpoint(context.output_path(options.checkpoint), options.resume);
    }
    if (history && writes_) // begins the file: after all claims, which may be refused
      history_ = std::make_unique<DesignHistory>(
          *history, model.problem.cases.size(), model.problem.limits,
          is_held_to_frequencies(model.problem, model.options)
              ? count_frequencies(model.problem, model.options)
              : 0,
          model.levels > 0);
  }

  /// Before the steps on a grid: that of the model that files are of, or a coarser one.
  void enter(const TopoptModel& grid) {
    at_ = &grid;
    if (has_checkpoint())
      identity_ = identify(grid.problem, grid.options); // reads all of the mesh
  }

  bool has_checkpoint() const { return !checkpoint_.empty(); }

  /// After a step.
  template<class Exec>
  void step(const Exec& exec, const DesignOptimizer<Exec>& optimizer, const DesignStep& step) {
    if (history_)
      history_->add(step, at_->num_elem());
    if (frames_ && at_ == &model_ && step.number % *options_.vtk_every == 0)
      frame(exec, optimizer, step.number);
    if (options_.checkpoint_every && step.number % *options_.checkpoint_every == 0)
      checkpoint(exec, optimizer);
  }

  /// The frame is written while the run goes on.
  template<class Exec>
  void frame(const Exec& exec, const DesignOptimizer<Exec>& optimizer, int step) {
    const Stopwatch watch;
    const TimedScope scope("ossatura::topopt::write");
    writer_.make_room();
    DesignFields all = fields_of(exec, optimizer, model_, true);
    if (!writes_)
      return;
    writer_.add(frames_->path(), [this, step, fields = std::move(all), facts = facts()] {
      const std::string path = frames_->frame_path(step);
      write_design(path, model_, fields, step, facts, options_.common.compress, &kept_);
      frames_->add(step, step);
      return path;
    });
    seconds_ += watch.seconds();
  }

  /// Until all frames so far are written.
  void wait() {
    const Stopwatch watch;
    const TimedScope scope("ossatura::topopt::write");
    writer_.wait();
    seconds_ += watch.seconds();
  }

  template<class Exec>
  void checkpoint(const Exec& exec, const DesignOptimizer<Exec>& optimizer) {
    wait(); // who goes on from a checkpoint finds the frames before it
    const Stopwatch watch;
    const TimedScope scope("ossatura::topopt::checkpoint");
    const DesignState state = optimizer.state(exec);
    has_written_checkpoint_ = writes_ && context_.try_output(checkpoint_, [&] {
      write_design_checkpoint(checkpoint_, state, identity_, facts());
    });
    if (has_written_checkpoint_)
      log_verbose("wrote ", checkpoint_, " after step ", optimizer.num_steps());
    seconds_ += watch.seconds();
  }

  /// After the last one, and after wait(). The final analysis, if there is one, is done. Frees the
  /// optimiser, so that its memory is there for the surface to be solved.
  template<class Exec>
  void finish(const Exec& exec, std::unique_ptr<DesignOptimizer<Exec>> optimizer,
              TopoptRunResults& results) {
    const Stopwatch watch;
    const bool has_files = !design_.empty() || options_.may_have_surface();
    DesignFields fields =
        has_files ? fields_of(exec, *optimizer, model_, results.final.has_value()) : DesignFields();
    if (has_files && results.final)
      for (std::size_t i = 0; i < results.final->frequencies.size(); ++i)
        fields.mode.push_back(optimizer->mode(exec, int(i)));
    if (options_.bound && results.final) // its solves overwrite what fields are of
      results.bound = find_bound(exec, context_.world(), *optimizer);
    optimizer.reset();
    if (has_files) {
      const TimedScope scope("ossatura::topopt::write");
      if (writes_ && !design_.empty() && context_.try_output(design_, [&] {
            const TimedScope of_file("ossatura::topopt::design_file");
            write_design(design_, model_, fields, results.last_step(), facts(),
                         options_.common.compress, frames_ ? &kept_ : nullptr);
          }))
        files_.push_back(design_);
      if (frames_ && frames_->num_written() > 0)
        files_.push_back(frames_->path());
      if (options_.may_have_surface())
        finish_surface(exec, fields.density, results);
    }
    seconds_ += watch.seconds() - (results.reanalysis ? results.reanalysis->seconds : 0) -
                (results.bound ? results.bound->seconds : 0);
    if (has_written_checkpoint_)
      files_.push_back(checkpoint_);
    for (const std::string& file : files_)
      log_info("wrote ", file);
    results.files = files_;
    results.num_frames = frames_ ? frames_->num_written() : 0;
    results.seconds.write = seconds_;
  }

private:
  template<class Exec>
  void finish_surface(const Exec& exec, const std::vector<double>& density,
                      TopoptRunResults& results) {
    const bool is_written = !stl_.empty() || !file_3mf_.empty(); // else its parts are counted
    const DesignSurface design =
        make_design_surface(model_, density,
                            {options_.stl_level, options_.keep_loose,
                             is_written ? options_.smooth : 0, is_written && model_.whole});
    results.parts = design.parts;
    if (design.num_held > 0)
      log_info("smoothing left ", format_count(design.num_held), " of ",
               format_count(std::int64_t(design.surface.vertex.size())),
               " vertices where they were, lest triangles cross");
    if (!is_written)
      return;
    const auto write = [&](const std::string& path, const auto& written) {
      std::optional<SurfaceSummary> summary;
      if (!writes_ || path.empty() ||
          !context_.try_output(path,
                               [&] {
                                 const TimedScope scope("ossatura::topopt::surface_file");
                                 summary = written(path);
                               }) ||
          !summary)
        return;
      results.surface = summary;
      files_.push_back(path);
    };
    write(stl_, [&](const std::string& path) {
      return write_design_surface(path, model_, design, options_.stl_level);
    });
    write(file_3mf_, [&](const std::string& path) {
      return write_design_3mf(path, design, options_.stl_level);
    });
    if (const int refine = reanalysis_of(options_, model_); refine > 0 && results.final)
      results.reanalysis =
          reanalyse_surface(exec, context_.world(), model_, design.of_model(), refine);
  }

  RunFacts facts() const { return provenance_texts(context_.provenance()); }

  const TopoptCommandOptions& options_;
  const TopoptModel& model_;
  const TopoptModel* at_; ///< of which steps are
  DriverContext& context_;
  bool writes_; ///< this rank
  DesignIdentity identity_;
  std::string design_, stl_, file_3mf_, checkpoint_;
  bool has_written_checkpoint_ = false;
  std::unique_ptr<DesignHistory> history_;
  std::unique_ptr<FrameList> frames_; ///< used by the thread of `writer_` until wait()
  VtkHdfKept kept_;                   ///< likewise
  FrameWriter writer_;                ///< after what its thread uses
  std::vector<std::string> files_;
  double seconds_ = 0;
};

void show(const DesignStep& step, int last_step, double remaining, DriverContext& context) {
  char line[192];
  std::snprintf(line, sizeof line, "%10.3f %8d/%-6d %14.7e   %.4f, %.4f, %.3f; %d, %.3g s",
                context.seconds(), step.number, last_step, step.objective, step.volume, step.change,
                step.grey, iterations_of(step), seconds_of(step));
  context.progress(line, remaining);
}

/// Whether some of the problem, or the design that it starts from, is in a file.
bool has_file(const TopoptCommandOptions& options) {
  return options.kind() != ProblemKind::generator || !options.resume.empty() ||
         !options.start_from.empty();
}

template<class Exec>
std::unique_ptr<DesignOptimizer<Exec>> make_optimizer(const Exec& exec, const std::string& where,
                                                      const TopoptModel& model,
                                                      TopoptRunResults& results) {
  const Stopwatch watch;
  const TimedScope scope("ossatura::topopt::setup");
  std::unique_ptr<DesignOptimizer<Exec>> optimizer;
  try {
    optimizer = std::make_unique<DesignOptimizer<Exec>>(exec, model.problem, model.options);
  } catch (const std::invalid_argument& error) {
    const std::string message = library_message(error);
    const bool by_layers = model.num_kept > 0 && message.find("solid elements") == 0;
    fail<InputError>(where, ": ", message,
                     by_layers ? "; " + format_count(model.num_kept) +
                                     " of them are kept around supports and loads: keep less "
                                     "(--keep), or take more volume (--volume)"
                               : "");
  }
  results.seconds.setup += watch.seconds();
  DesignEngine& engine = results.engine;
  static_cast<DesignEngineInfo&>(engine) = optimizer->body().engine();
  engine.radius = optimizer->radius();
  log_info("operator ", engine.operator_name, ": ", engine.reason);
  return optimizer;
}

/// The models of a run: of coarser grids, the coarsest first, then that which is asked for.
using Grids = std::vector<const TopoptModel*>;

/// The grid that steps begin on: the first, or that of a checkpoint.
std::size_t first_grid(const TopoptCommandOptions& options, const Grids& grids) {
  if (options.resume.empty() || grids.size() == 1)
    return 0;
  std::vector<DesignIdentity> identities;
  for (const TopoptModel* grid : grids)
    identities.push_back(identify(grid->problem, grid->options));
  // Of another mesh: refused as one of the finest.
  return std::min(find_mesh_of_checkpoint(options.resume, identities), grids.size() - 1);
}

/// Sets the state of a checkpoint. After the last step on a coarser grid the next one takes over.
template<class Exec>
void resume(const Exec& exec, const TopoptCommandOptions& options, const TopoptModel& model,
            bool is_finest, DesignOptimizer<Exec>& optimizer, DriverContext& context) {
  DesignState state;
  run_phase(context.world(), [&] { // a rank may lack the file
    state = read_design_checkpoint(options.resume, identify(model.problem, model.options),
                                   model.problem);
  });
  if (is_finest && state.steps >= model.options.max_steps)
    fail<UsageError>("--resume ", options.resume, ": step ", state.steps, " of ",
                     model.options.max_steps, " is done already: give a larger --steps");
  context.provenance().inputs.push_back(record_input(options.resume));
  try {
    optimizer.set_state(exec, state);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(options.resume, ": ", library_message(error));
  }
  log_info("resumed after step ", state.steps);
}

/// Sets the design of another run.
template<class Exec>
void start_from(const Exec& exec, const std::string& file, const TopoptModel& model,
                DesignOptimizer<Exec>& optimizer, DriverContext& context) {
  const TimedScope scope("ossatura::topopt::start_from");
  PlacedDensities design;
  run_phase(context.world(), [&] { design = read_start_design(file); });
  context.provenance().inputs.push_back(record_input(file));
  std::vector<double> density;
  try {
    density = densities_at(exec, design, model.problem);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(file, ": ", library_message(error),
                     ": take a design of the same body, in m (--unit), or leave --start-from out");
  }
  optimizer.start_from(exec, density);
  log_info("started from ", file, " with ", format_count(std::int64_t(design.density.size())),
           " elements");
}

/// From a signal on to any rank, steps that take long end with an iteration. Others are done, so
/// that a run which goes on from the checkpoint has the same bits. `patience` is in seconds.
template<class Exec>
void end_long_steps(DesignOptimizer<Exec>& optimizer, DriverContext& context, double patience) {
  const auto noted = std::make_shared<std::optional<Stopwatch>>();
  optimizer.observe_solves([&context, noted, patience](int, double) {
    if (is_interrupted() && !*noted)
      noted->emplace();
    const bool is_late = *noted && (*noted)->seconds() > patience;
    if (const int signal = context.world().max(is_late ? noted_interrupt() : 0))
      throw_interrupted_by(signal);
  });
}

/// Takes steps until the design is done, breaks down or is stopped.
template<class Exec>
void take_steps(const Exec& exec, const TopoptModel& model, DesignOptimizer<Exec>& optimizer,
                Recorder& recorder, DriverContext& context, int last_step,
                TopoptRunResults& results) {
  const Stopwatch watch;
  end_long_steps(optimizer, context, 5);
  context.begin_progress("   seconds     step/most      objective   volume fraction, change, grey; "
                         "iterations and seconds of the step");
  protect_results();
  try {
    while (!optimizer.is_done()) {
      context.throw_if_any_interrupted();
      {
        const TimedScope scope("ossatura::topopt::step");
        results.steps.push_back(optimizer.step(exec));
      }
      show(results.steps.back(), last_step,
           watch.seconds() * (last_step - results.last_step()) / double(results.steps.size()),
           context);
      if (results.steps.size() == 1) // of a run of hours, too, within its first minutes
        warn_of_opposite_displacements(model, results.steps.front());
      recorder.step(exec, optimizer, results.steps.back());
    }
  } catch (const DesignBreakdown& breakdown) {
    results.breakdown = breakdown.what();
  } catch (const Interrupted&) {
    results.stopped = true;
    results.has_checkpoint = recorder.has_checkpoint();
  }
  context.end_solve();
  results.seconds.steps += watch.seconds();
  results.converged = results.breakdown.empty() && optimizer.has_converged();
}

/// Takes the steps of one of the grids, and notes what they were if there are several.
template<class Exec>
void take_grid_steps(const Exec& exec, const Grids& grids, std::size_t which,
                     DesignOptimizer<Exec>& optimizer, Recorder& recorder, DriverContext& context,
                     TopoptRunResults& results) {
  const TopoptModel& grid = *grids[which];
  const std::size_t before = results.steps.size();
  const Stopwatch watch;
  recorder.enter(grid);
  take_steps(exec, grid, optimizer, recorder, context, grids.back()->options.max_steps, results);
  if (grids.size() > 1)
    results.grids.push_back({grid.num_elem(), grid.problem.lattice->edge(), optimizer.radius(),
                             results.steps.size() - before, watch.seconds()});
}

/// Takes the steps on coarser grids, from `grids[first]` on, whose optimiser becomes that of the
/// last grid with the design so far. Where they end before they are done, the checkpoint is that of
/// the grid where they did.
template<class Exec>
void take_coarser_steps(const Exec& exec, const TopoptCommandOptions& options, const Grids& grids,
                        std::size_t first, std::unique_ptr<DesignOptimizer<Exec>>& optimizer,
                        Recorder& recorder, DriverContext& context, TopoptRunResults& results) {
  for (std::size_t k = first; k + 1 < grids.size(); ++k) {
    if (!results.has_ended()) {
      take_grid_steps(exec, grids, k, *optimizer, recorder, context, results);
      if (results.has_ended() && recorder.has_checkpoint())
        recorder.checkpoint(exec, *optimizer);
    }
    const DesignState state = optimizer->state(exec);
    const PlacedDensities design = place_densities(grids[k]->problem, state.x);
    optimizer.reset();
    optimizer = make_optimizer(exec, options.problem, *grids[k + 1], results);
    const TimedScope scope("ossatura::topopt::refine");
    optimizer->start_from(exec, densities_at(exec, design, grids[k + 1]->problem), &state);
    log_info("after step ", state.steps, " on ", format_count(grids[k + 1]->num_elem()),
             " elements");
  }
}

/// By how much a load case moves where it acts (m): the most of nodes with forces or displacements,
/// the mean of gravity and rotation by their forces, for void elements may sag without weight.
template<class Exec>
double load_displacement(const Exec& exec, const NodeLoads& loads,
                         const DesignOptimizer<Exec>& optimizer, int which) {
  const auto length = [](const double* v) { return std::hypot(v[0], v[1], v[2]); };
  std::vector<std::int32_t> nodes;
  loads.for_nodes([&nodes](std::int32_t node) { nodes.push_back(node); });
  double most = 0;
  const std::vector<double> own =
      nodes.empty() ? std::vector<double>() : optimizer.forces(exec, which, nodes).displacement;
  for (std::size_t i = 0; i < own.size(); i += 3)
    most = std::max(most, length(&own[i]));
  if (!loads.body.empty()) {
    const std::vector<double> u = optimizer.displacements(exec, which);
    const std::vector<double> f = optimizer.body_forces(exec, which);
    double sum = 0, scale = 0;
    for (std::size_t i = 0; i < u.size(); i += 3) {
      sum += length(&f[i]) * length(&u[i]);
      scale += length(&f[i]);
    }
    most = scale > 0 ? std::max(most, sum / scale) : most;
  }
  return most;
}

/// Of the frequencies that a deck asks for in a range, leaves out those above it.
void leave_out_above(double below, DesignStep& step) {
  std::size_t count = 0;
  while (count < step.frequencies.size() && step.frequencies[count] <= below)
    ++count;
  if (count == 0 && step.frequency_failure.empty())
    log_info("no natural frequency is below ", format_number(below), " Hz, the lowest is ",
             format_number(step.frequencies[0]), " Hz");
  step.frequencies.resize(count);
  step.frequency_residuals.resize(count);
  step.frequency_families.resize(std::min(count, step.frequency_families.size()));
}

/// Solves for the last design, from the displacements of the last step, and looks what holds.
template<class Exec>
void analyse_design(const Exec& exec, const TopoptModel& model, DesignOptimizer<Exec>& optimizer,
                    TopoptRunResults& results) {
  const DesignProblem& problem = model.problem;
  results.final = optimizer.analyse(exec);
  if (model.frequencies_below > 0 && !is_held_to_frequencies(problem, model.options))
    leave_out_above(model.frequencies_below, *results.final);
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    results.balances.push_back(balance_design(exec, problem, optimizer, k));
    results.largest.push_back(optimizer.largest_values(exec, int(k)));
  }
  for (std::size_t k = 0; k < problem.cases.size(); ++k)
    results.load_displacement =
        std::max(results.load_displacement,
                 load_displacement(exec, problem.cases[k].loads, optimizer, int(k)));
  const std::array<double, 2> range = optimizer.density_range(exec);
  results.least_density = range[0];
  results.greatest_density = range[1];
  results.faults = optimizer.process_faults(exec);
  results.rise = find_rise(problem, model.options, results);
  constexpr double faint = 0.01; // of densities that carry nothing
  results.is_nothing = model.options.objective == DesignObjective::volume &&
                       results.greatest_density < faint && results.holds_limits();
  results.converged = results.converged && !results.has_failed();
}

/// Files of a mesh, and the parts of a surface, have fewer elements than 2^28: told before a long
/// run.
void require_room_in_files(const TopoptCommandOptions& options, const TopoptModel& model) {
  if (model.num_elem() >= std::int64_t(1) << 28 && !(options.no_hdf && !options.may_have_surface()))
    fail<UsageError>(model.source, ": ", format_count(model.num_elem()),
                     " elements are too many for .hdf and .stl, which have fewer than 2^28: take "
                     "--no-hdf and --no-stl, no --3mf, and a --checkpoint for the design");
}

/// The optimiser of the grid that steps begin on, with the design that they begin with.
template<class Exec>
std::unique_ptr<DesignOptimizer<Exec>>
begin_design(const Exec& exec, const TopoptCommandOptions& options, const Grids& grids,
             std::size_t first, TopoptRunResults& results, DriverContext& context) {
  const TopoptModel& grid = *grids[first];
  auto optimizer = blame_options_unless(
      has_file(options), [&] { return make_optimizer(exec, options.problem, grid, results); });
  if (!options.resume.empty())
    resume(exec, options, grid, first + 1 == grids.size(), *optimizer, context);
  if (!grids.back()->start_from.empty())
    start_from(exec, grids.back()->start_from, grid, *optimizer, context);
  results.first_step = optimizer->num_steps();
  return optimizer;
}

template<class Exec>
int run_on(const Exec& exec, const TopoptCommandOptions& options, const Grids& grids,
           double read_seconds, DriverContext& context) {
  const TopoptModel& model = *grids.back();
  TopoptRunResults results;
  const std::string stem = file_stem(options.problem);
  results.seconds.read = read_seconds;
  if (options.common.dry_run) {
    const bool brings_vectors = writes_fields(options.hdf, options.no_hdf, options.common) ||
                                writes_fields(options.stl, options.no_stl, options.common) ||
                                !options.file_3mf.empty() || !options.checkpoint.empty();
    return report_topopt_prediction(
        model, predict_topopt(model, BackendTraits<Exec>::is_device, brings_vectors, options.bound),
        stem, context);
  }

  require_room_in_files(options, model);
  const Communicator& world = context.world();
  std::size_t first = 0;
  std::unique_ptr<DesignOptimizer<Exec>> optimizer;
  run_phase(world, [&] { first = first_grid(options, grids); });
  run_communicating(
      world, [&] { optimizer = begin_design(exec, options, grids, first, results, context); });
  std::optional<Recorder> recording;
  run_phase(world, [&] {
    context.begin_outputs(stem);
    recording.emplace(options, model, results.first_step, stem, context);
  });
  Recorder& recorder = *recording;
  take_coarser_steps(exec, options, grids, first, optimizer, recorder, context, results);
  if (!results.has_ended()) {
    take_grid_steps(exec, grids, grids.size() - 1, *optimizer, recorder, context, results);
    // Before the final analysis, which changes the displacements that the next step starts from.
    if (recorder.has_checkpoint())
      recorder.checkpoint(exec, *optimizer);
  }
  if (results.breakdown.empty()) {
    const Stopwatch final_watch;
    const TimedScope scope("ossatura::topopt::analyse");
    end_long_steps(*optimizer, context, 1); // no checkpoint is of what follows
    try {
      results.within_volume = optimizer->meet_volume(exec);
      if (!results.stopped) {
        optimizer->meet_limits(exec);
        analyse_design(exec, model, *optimizer, results);
      }
    } catch (const DesignBreakdown& breakdown) {
      results.breakdown = breakdown.what();
      results.converged = false;
    } catch (const Interrupted&) {
      results.stopped = true;
      results.converged = false;
    }
    results.seconds.final = final_watch.seconds();
  }
  static_cast<DesignEngineInfo&>(results.engine) = optimizer->body().engine();
  results.engine.most_host_bytes = world.max(std::int64_t(peak_host_bytes()));
  results.engine.most_kokkos_bytes = world.max(std::int64_t(peak_kokkos_bytes()));
  recorder.wait(); // the summary is kept before finish() and refers to the frames
  return report_topopt(model, results, stem, context,
                       [&] { recorder.finish(exec, std::move(optimizer), results); });
}

} // namespace

int run_topopt(const TopoptCommandOptions& options, DriverContext& context) {
  const Stopwatch watch;
  const Communicator& world = context.world();
  TopoptModel model;
  std::vector<TopoptModel> coarser;
  run_phase(world, [&] {
    blame_options_unless(has_file(options), [&] {
      model = make_topopt_model(options, context);
      coarser = make_coarser_models(options, model);
    });
    require_reanalysable(options, model);
    require_bound(options, model);
    if (!divides_model(options, model, world.size()))
      return;
    model.options.ranks = world;
    for (TopoptModel& one : coarser)
      one.options.ranks = world;
  });
  Grids grids;
  for (const TopoptModel& one : coarser)
    grids.push_back(&one);
  grids.push_back(&model);
  const double seconds = watch.seconds();
  return with_backend(context.choose_backend(3 * model.num_nodes()), [&](const auto& exec) {
    return run_on(exec, options, grids, seconds, context);
  });
}

} // namespace ossatura
