// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/strength_checkpoint.hpp"

#include "apps/driver/output/content_hash.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

namespace ossatura {

namespace {

const char* const format = "ossatura bone checkpoint 1";

template<class Exec>
void add_grid(ContentHash& hash, const Exec& exec, const VoxelGrid<Exec>& grid) {
  for (const int size : {grid.shape[0], grid.shape[1], grid.shape[2], grid.num_nodes})
    hash.add(size);
  const std::vector<detail::NodeBlock> blocks = download(exec, grid.block);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].mask != 0) {
      hash.add(i);
      hash.add(blocks[i].mask);
    }
}

// Responses and steps are rows of numbers, no number where there is none.

constexpr std::optional<double> TestResponse::*response_numbers[] = {
    &TestResponse::displacement, &TestResponse::force,     &TestResponse::strain,
    &TestResponse::stress,       &TestResponse::stiffness, &TestResponse::apparent_modulus,
    &TestResponse::angle,        &TestResponse::moment,    &TestResponse::rotational_stiffness};
constexpr std::size_t response_size = 2 + std::size(response_numbers);

void append(std::vector<double>& row, const std::optional<TestResponse>& response) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  row.push_back(response ? response->height : none);
  row.push_back(response ? response->area : none);
  for (const auto number : response_numbers)
    row.push_back(response ? ((*response).*number).value_or(none) : none);
}

std::optional<TestResponse> response_of(const double* row) {
  if (std::isnan(row[0]))
    return {};
  TestResponse response;
  response.height = row[0];
  response.area = row[1];
  for (std::size_t k = 0; k < std::size(response_numbers); ++k)
    if (!std::isnan(row[2 + k]))
      response.*response_numbers[k] = row[2 + k];
  return response;
}

constexpr double StrengthStep::*step_numbers[] = {
    &StrengthStep::factor,      &StrengthStep::external_work,    &StrengthStep::elastic_energy,
    &StrengthStep::dissipation, &StrengthStep::changed_fraction, &StrengthStep::broken_fraction,
    &StrengthStep::mean_change, &StrengthStep::residual};
constexpr int StrengthStep::*step_counts[] = {
    &StrengthStep::newton_iterations, &StrengthStep::cg_iterations, &StrengthStep::num_halvings};
constexpr std::size_t first_count = std::size(step_numbers),
                      first_of_response = first_count + std::size(step_counts),
                      step_size = first_of_response + response_size;

void append(std::vector<double>& rows, const StrengthStep& step) {
  for (const auto number : step_numbers)
    rows.push_back(step.*number);
  for (const auto count : step_counts)
    rows.push_back(step.*count);
  append(rows, step.response);
}

StrengthStep step_of(const double* row, const std::string& path) {
  StrengthStep step;
  for (std::size_t k = 0; k < first_count; ++k) {
    step.*step_numbers[k] = row[k];
    if (!std::isfinite(row[k]))
      fail<InputError>(path, ": /steps: expected finite numbers; the file is damaged");
  }
  for (std::size_t k = 0; k < std::size(step_counts); ++k) {
    const double count = row[first_count + k];
    if (!(count >= 0 && count < 2e9))
      fail<InputError>(path, ": /steps: expected numbers of iterations; the file is damaged");
    step.*step_counts[k] = int(count);
  }
  step.response = response_of(row + first_of_response);
  step.converged = true;
  return step;
}

std::vector<double> read_finite(const Hdf5Group& root, const std::string& name,
                                const std::string& path) {
  std::vector<double> values = root.dataset(name).read<double>();
  for (const double value : values)
    if (!std::isfinite(value))
      fail<InputError>(path, ": /", name, ": expected finite numbers; the file is damaged");
  return values;
}

std::vector<double> read_rows(const Hdf5Group& root, const std::string& name, std::size_t size,
                              const std::string& path) {
  std::vector<double> rows = root.dataset(name).read<double>();
  if (rows.empty() || rows.size() % size != 0)
    fail<InputError>(path, ": /", name, ": expected rows of ", size,
                     " numbers; the file is damaged");
  return rows;
}

} // namespace

template<class Exec>
StrengthIdentity identify(const Exec& exec, const VoxelProblem<Exec>& problem,
                          const Array<std::uint8_t, Exec>& elastic,
                          const StrengthOptions& options) {
  const YieldLaw& law = options.law;
  ContentHash bone, of_law;
  add_grid(bone, exec, problem.grid);
  bone.add(problem.edge);
  bone.add(problem.lame.mu_scale); // where there is one Poisson's ratio, it is in these
  bone.add(problem.lame.lambda_scale);
  bone.add(download(exec, problem.lame.mu_value));
  bone.add(download(exec, problem.lame.lambda_value));
  bone.add(download(exec, problem.held.mask));
  bone.add(download(exec, elastic));
  of_law.add(law.criterion);
  of_law.add(law.are_strains);
  for (const double value : {law.compression, law.tension, law.hardening, law.fracture_energy})
    of_law.add(value);
  return {bone.digits(), of_law.digits(), {{"--tolerance", options.tolerance}}};
}

void write_strength_checkpoint(const std::string& path, const StrengthCheckpoint& checkpoint,
                               const StrengthIdentity& identity,
                               const std::vector<std::pair<std::string, std::string>>& run) {
  CheckpointFile file(path, format);
  {
    const StrengthState& state = checkpoint.state;
    Hdf5Group root = file.root();
    root.set_attribute("bone", identity.bone);
    root.set_attribute("law", identity.law);
    write_course(root, identity.course);
    root.write_scalar("reference", state.reference);
    root.write_scalar("last_change", state.last_change);
    root.write_scalar("reaction_work", state.reaction_work);
    std::vector<double> rows;
    append(rows, state.elastic);
    root.write("elastic", {rows.size()}, rows.data());
    root.write_scalar("elastic_iterations", checkpoint.elastic.iterations);
    root.write_scalar("elastic_residual", checkpoint.elastic.residual);
    rows.clear();
    append(rows, state.present);
    root.write("present", {rows.size()}, rows.data());
    rows.clear();
    for (const StrengthStep& step : checkpoint.steps)
      append(rows, step);
    root.write("steps", {checkpoint.steps.size(), step_size}, rows.data());
    root.write("displacement", {state.u.size() / 3, 3}, state.u.data());
    root.write("displacement_before", {state.before.size() / 3, 3}, state.before.data());
    root.write("voxel_flags", {state.voxels.flag.size()}, state.voxels.flag.data());
    root.write("voxels", {state.voxels.value.size()}, state.voxels.value.data());
    Hdf5Group facts = root.create_group("run");
    for (const auto& [name, value] : run)
      facts.set_attribute(name, value);
  }
  file.commit();
}

StrengthCheckpoint read_strength_checkpoint(const std::string& path,
                                            const StrengthIdentity& identity) {
  const Hdf5File file = open_checkpoint(path, format);
  const Hdf5Group root = file.root();
  if (root.text_attribute("bone") != identity.bone)
    fail<InputError>(path, ": is a checkpoint of another bone or test: voxels, moduli, caps and "
                           "pads, or what is held, are others");
  if (root.text_attribute("law") != identity.law)
    fail<InputError>(path, ": is a checkpoint of another law: --strength, yield, --hardening and "
                           "--fracture-energy must be as they were");
  warn_of_other_course(path, root, identity.course);
  StrengthCheckpoint checkpoint;
  StrengthState& state = checkpoint.state;
  state.reference = root.dataset("reference").read_scalar<double>("the measure of residuals");
  state.last_change = root.dataset("last_change").read_scalar<double>("the last change");
  state.reaction_work = root.dataset("reaction_work").read_scalar<double>("work of reactions");
  checkpoint.elastic.iterations =
      root.dataset("elastic_iterations").read_scalar<int>("iterations of the first solve");
  checkpoint.elastic.residual =
      root.dataset("elastic_residual").read_scalar<double>("the residual of the first solve");
  const std::optional<TestResponse> elastic =
      response_of(read_rows(root, "elastic", response_size, path).data());
  state.present = step_of(read_rows(root, "present", step_size, path).data(), path);
  const std::vector<double> rows = read_rows(root, "steps", step_size, path);
  for (std::size_t i = 0; i < rows.size(); i += step_size)
    checkpoint.steps.push_back(step_of(rows.data() + i, path));
  if (!elastic || !(state.present.factor > 0) || !(state.reference >= 0) ||
      !std::isfinite(state.reference + state.last_change + state.reaction_work +
                     checkpoint.elastic.residual) ||
      checkpoint.elastic.iterations < 0)
    fail<InputError>(path, ": /present, /elastic: the file is damaged");
  state.elastic = *elastic;
  state.u = read_finite(root, "displacement", path);
  state.before = read_finite(root, "displacement_before", path);
  state.voxels.flag = root.dataset("voxel_flags").read<std::uint8_t>();
  state.voxels.value = root.dataset("voxels").read<float>();
  return checkpoint;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template StrengthIdentity identify(const Exec&, const VoxelProblem<Exec>&,                       \
                                     const Array<std::uint8_t, Exec>&, const StrengthOptions&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
