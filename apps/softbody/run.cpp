// SPDX-License-Identifier: Apache-2.0
// A run goes from scene and set-up through step after step, and writes results as the steps come.
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/content_hash.hpp"
#include "apps/driver/output/files/frame_writer.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/softbody/command.hpp"
#include "apps/softbody/output/checkpoint.hpp"
#include "apps/softbody/output/frame_series.hpp"
#include "apps/softbody/output/report.hpp"
#include "apps/softbody/output/step_history.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/solvers/softbody/doubts.hpp>

#include <cmath>
#include <cstdio>

namespace ossatura {

namespace {

/// Everything that is written while a run goes on.
class Recorder {
public:
  Recorder(const SoftbodyCommandOptions& options, const SoftbodyModel& model, int first_step,
           const std::string& stem, DriverContext& context)
      : options_(options)
      , context_(context)
      , identity_(identify(model.scene, model.options))
      , vtk_every_(options.vtk_every.value_or((model.steps - first_step + 99) / 100))
      , writer_(context) {
    const auto history = context.claim_file(options.history, stem + ".csv");
    const auto hdf =
        options.no_hdf ? std::nullopt : context.output_file(options.hdf, stem + ".hdf");
    if (hdf)
      context.claim_output(without_hdf(*hdf) + ".hdf.series");
    if (!options.checkpoint.empty())
      checkpoint_ =
          context.claim_checkpoint(context.output_path(options.checkpoint), options.resume);
    if (hdf) {
      frames_ =
          std::make_unique<FrameSeries>(*hdf, model.scene, provenance_texts(context.provenance()),
                                        first_step, options.common.compress);
      context.keep_earlier(frames_->earlier_paths());
    }
    if (history) { // begins the file: after all claims, which may be refused
      history_ = std::make_unique<StepHistory>(*history);
      files_.push_back(*history);
    }
  }

  StepHistory* history() const { return history_.get(); }
  bool has_checkpoint() const { return !checkpoint_.empty(); }

  /// The frame is written while the run goes on.
  template<class Exec>
  void frame(const Exec& exec, const SoftSolver<Exec>& solver, int step) {
    if (!frames_)
      return;
    const Stopwatch watch;
    const TimedScope scope("ossatura::softbody::write");
    writer_.make_room();
    writer_.add(frames_->path(),
                [this, step, time = solver.time(), positions = solver.positions(exec),
                 velocities = solver.velocities(exec)] {
                  return frames_->write(step, time, positions, velocities);
                });
    seconds_ += watch.seconds();
  }

  /// Until all frames so far are written.
  void wait() {
    const Stopwatch watch;
    const TimedScope scope("ossatura::softbody::write");
    writer_.wait();
    seconds_ += watch.seconds();
  }

  template<class Exec>
  bool checkpoint(const Exec& exec, const SoftSolver<Exec>& solver, int step) {
    wait(); // who goes on from a checkpoint finds the frames before it
    const Stopwatch watch;
    const TimedScope scope("ossatura::softbody::checkpoint");
    const Checkpoint state = {step, solver.state(exec)};
    const bool written = context_.try_output(checkpoint_, [&] {
      write_checkpoint(checkpoint_, state, identity_, provenance_texts(context_.provenance()));
    });
    if (written)
      log_verbose("wrote ", checkpoint_, " after step ", step);
    seconds_ += watch.seconds();
    return written;
  }

  /// After a step that is not the last.
  template<class Exec>
  void between(const Exec& exec, const SoftSolver<Exec>& solver, int step) {
    if (step % vtk_every_ == 0)
      frame(exec, solver, step);
    if (options_.checkpoint_every && step % *options_.checkpoint_every == 0)
      checkpoint(exec, solver, step);
  }

  /// After the last one, and after wait(). A run should not go on from a breakdown: there is no
  /// checkpoint.
  template<class Exec>
  void finish(const Exec& exec, const SoftSolver<Exec>& solver, int step,
              SoftbodyRunResults& results) {
    if (!results.lost && frames_ && frames_->last_step() != step)
      frame(exec, solver, step);
    wait();
    if (frames_ && frames_->num_written() > 0)
      files_.push_back(frames_->path());
    if (has_checkpoint() && results.breakdown.empty()) {
      if (checkpoint(exec, solver, step))
        files_.push_back(checkpoint_);
    }
    for (const std::string& file : files_)
      log_info("wrote ", file);
    results.files = files_;
    results.num_frames = frames_ ? frames_->num_written() : 0;
    results.seconds.write = seconds_;
  }

private:
  const SoftbodyCommandOptions& options_;
  DriverContext& context_;
  SceneIdentity identity_;
  int vtk_every_;
  std::string checkpoint_;
  std::unique_ptr<StepHistory> history_;
  std::unique_ptr<FrameSeries> frames_; ///< used by the thread of `writer_` until wait()
  FrameWriter writer_;                  ///< after what its thread uses
  std::vector<std::string> files_;
  double seconds_ = 0;
};

/// Progress after each step of a run from `first` to `last`.
class Progress {
public:
  Progress(DriverContext& context, int first, int last)
      : context_(context)
      , first_(first)
      , last_(last)
      , start_(context.seconds()) {
    context.begin_progress("   seconds     step/last  iterations    residual   simulated time, "
                           "time of the step");
  }

  void show(const SoftStepRecord& record) {
    const double now = context_.seconds();
    char line[160];
    std::snprintf(line, sizeof line, "%10.3f %8d/%-6d %8d %12.5e   %.4g s, %.3f ms", now,
                  record.number, last_, record.step.iterations, record.step.residual,
                  record.step.time, 1e3 * record.step.total);
    context_.progress(line, (now - start_) * (last_ - record.number) / (record.number - first_));
  }

private:
  DriverContext& context_;
  int first_, last_;
  double start_;
};

/// Takes one step; false where it broke down, with the reason in `results`.
template<class Exec>
bool take_step(const Exec& exec, SoftSolver<Exec>& solver, int number,
               SoftbodyRunResults& results) {
  SoftStepRecord record;
  record.number = number;
  try {
    const TimedScope scope("ossatura::softbody::step");
    record.step = solver.step(exec, results.fenced);
  } catch (const SoftBreakdown& breakdown) {
    results.breakdown = breakdown.what();
    return false;
  }
  results.seconds.steps += record.step.total;
  const Stopwatch watch;
  record.energy = solver.energy(exec);
  results.seconds.energies += watch.seconds();
  if (!std::isfinite(record.energy.kinetic + record.energy.elastic + record.energy.potential)) {
    results.breakdown = "energies are no longer finite: take smaller steps or smaller loads";
    results.lost = true;
    return false;
  }
  results.steps.push_back(record);
  return true;
}

template<class Exec>
std::unique_ptr<SoftSolver<Exec>> make_solver(const Exec& exec, const std::string& scene,
                                              const SoftbodyModel& model,
                                              SoftbodyRunResults& results) {
  const Stopwatch watch;
  const TimedScope scope("ossatura::softbody::setup");
  std::unique_ptr<SoftSolver<Exec>> solver;
  try {
    solver = std::make_unique<SoftSolver<Exec>>(exec, model.scene, model.options);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(scene, ": ", library_message(error));
  }
  results.seconds.setup = watch.seconds();
  results.apply = solver->apply();
  results.place = solver->place();
  results.num_blocks = solver->num_blocks();
  results.num_factor_entries = solver->num_factor_entries();
  results.num_inverse_bands = solver->num_inverse_bands();
  results.num_inverse_entries = solver->num_inverse_entries();
  return solver;
}

/// Sets the state of a checkpoint and returns its step.
template<class Exec>
int resume(const Exec& exec, const SoftbodyCommandOptions& options, const SoftbodyModel& model,
           SoftSolver<Exec>& solver, DriverContext& context) {
  const Checkpoint state = read_checkpoint(options.resume, identify(model.scene, model.options),
                                           std::size_t(model.num_nodes()));
  if (state.step >= model.steps)
    fail<UsageError>("--resume ", options.resume, ": step ", state.step, " of ", model.steps,
                     " is done already: give a larger --steps");
  context.provenance().inputs.push_back(record_input(options.resume));
  try {
    solver.set_state(exec, state.state);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(options.resume, ": ", library_message(error));
  }
  log_info("resumed after step ", state.step, " at ", format_number(state.state.time), " s");
  return state.step;
}

template<class Exec>
int run_on(const Exec& exec, const SoftbodyCommandOptions& options, const SoftbodyModel& model,
           double read_seconds, DriverContext& context) {
  SoftbodyRunResults results;
  const std::string& stem = options.name;
  results.seconds.read = read_seconds;
  if (options.common.dry_run)
    return report_softbody_prediction(
        model, predict_softbody(model, BackendTraits<Exec>::is_device), stem, context);

  results.fenced = options.common.timings;
  const auto solver = make_solver(exec, options.scene, model, results);
  int step = options.resume.empty() ? 0 : resume(exec, options, model, *solver, context);
  results.first_step = step;
  results.last_step = model.steps;
  results.initial = solver->energy(exec);
  results.rounding_energy = energy_of_rounding(model.scene);
  context.begin_outputs(stem);
  Recorder recorder(options, model, step, stem, context);
  if (recorder.history() != nullptr)
    recorder.history()->start(step, solver->time(), results.initial);
  recorder.frame(exec, *solver, step);
  const CrossingWatch crossings(model.scene);
  const auto look = [&] {
    if (!crossings.is_watching())
      return;
    const std::vector<double> positions = solver->positions(exec);
    const Stopwatch surface_watch;
    note_crossings(crossings.look(positions), model.scene, step, results);
    results.seconds.surfaces += surface_watch.seconds();
  };
  look();
  if (crossings.is_watching() && results.first_crossing < 0)
    warn_of_nested(model.scene);
  Progress progress(context, step, model.steps);
  protect_results();
  try {
    while (step < model.steps) {
      throw_if_interrupted();
      if (!take_step(exec, *solver, step + 1, results))
        break;
      ++step;
      if (recorder.history() != nullptr)
        recorder.history()->add(results.steps.back());
      look();
      progress.show(results.steps.back());
      if (step < model.steps)
        recorder.between(exec, *solver, step);
    }
  } catch (const Interrupted&) {
    results.stopped = true;
    results.has_checkpoint = recorder.has_checkpoint();
  }
  context.end_solve();
  if (!results.lost) {
    const std::vector<double> positions = solver->positions(exec);
    const std::vector<double> velocities = solver->velocities(exec);
    results.objects = describe_state(model.scene, positions, velocities);
    ContentHash hash;
    hash.add(positions);
    hash.add(velocities);
    results.state_hash = hash.digits();
  }
  recorder.wait(); // the summary is kept before finish() and refers to the frames
  return report_softbody(model, results, stem, context,
                         [&](RunStatus) { recorder.finish(exec, *solver, step, results); });
}

} // namespace

int run_softbody(const SoftbodyCommandOptions& options, DriverContext& context) {
  const Stopwatch watch;
  const SoftbodyModel model = make_softbody_model(options, context);
  const double seconds = watch.seconds();
  return with_backend(context.choose_backend(3 * model.num_nodes()), [&](const auto& exec) {
    return run_on(exec, options, model, seconds, context);
  });
}

} // namespace ossatura
