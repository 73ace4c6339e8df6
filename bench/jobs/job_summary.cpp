// SPDX-License-Identifier: Apache-2.0
#include "bench/jobs/job_summary.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>

namespace ossatura::bench {

namespace {

using Json = nlohmann::json;

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("there is no summary");
  return Json::parse(file);
}

/// The part that an outermost region belongs to, by the last word of its name.
std::optional<JobPart> part_of(const std::string& region) {
  static const std::set<std::string> words[] = {
      {"input", "read"},
      {"grid", "load", "check_supports", "elements", "setup", "refine", "start_from"},
      {"solve", "step", "analyse", "bound"},
      {"fields", "statistics", "sample"},
      {"write", "write_fields", "write_parosol", "checkpoint"}};
  const std::string word = region.substr(region.rfind(':') + 1); // npos + 1 is 0
  for (const JobPart part : name_table<JobPart>)
    if (words[std::size_t(part)].count(word) > 0)
      return part;
  return std::nullopt;
}

void require_certified(const Json& summary) {
  const std::string status = summary.at("status");
  if (status != "converged" && status != "steps done" && status != "done")
    throw std::runtime_error("its status is '" + status + "'");
  const Json& certificate = summary.at("certificate");
  if (certificate.at("checks").empty())
    throw std::runtime_error("its certificate has no checks");
  for (const Json& check : certificate.at("checks"))
    if (!check.at("passed").get<bool>())
      throw std::runtime_error("the check '" + check.at("name").get<std::string>() +
                               "' of its certificate failed");
  if (!certificate.at("passed").get<bool>())
    throw std::runtime_error("its certificate did not pass");
}

/// Bytes of the files that it names, below its folder, each of which is there.
double sum_files(const Json& summary, const std::filesystem::path& folder) {
  double bytes = 0;
  for (const Json& record : summary.at("certificate").at("files")) {
    const std::filesystem::path name = record.at("file").get<std::string>();
    const auto expected = record.at("bytes").get<std::uintmax_t>();
    std::error_code error;
    if (std::filesystem::file_size(folder / name, error) != expected)
      throw std::runtime_error("its file " + name.string() + " is not there as it was written");
    bytes += double(expected);
  }
  return bytes;
}

} // namespace

JobSummary read_job_summary(const std::string& path) {
  const Json json = read_json(path);
  require_certified(json);
  const Json& timings = json.at("timings");
  if (!timings.at("fenced").get<bool>())
    throw std::runtime_error("its regions did not wait for the device");
  JobSummary summary;
  for (const Json& region : timings.at("regions")) {
    if (region.at("depth").get<int>() != 0)
      continue;
    const double seconds = region.at("seconds");
    const std::optional<JobPart> part = part_of(region.at("name"));
    (part ? summary.seconds[std::size_t(*part)] : summary.other_seconds) += seconds;
    summary.region_seconds += seconds;
  }
  if (!(summary.region_seconds > 0))
    throw std::runtime_error("its summary has no timed regions");
  summary.iterations = json.at("iterations");
  summary.host_peak_bytes = json.at("memory").at("host_peak_bytes");
  summary.kokkos_peak_bytes = json.at("memory").at("kokkos_peak_bytes");
  summary.file_bytes = sum_files(json, std::filesystem::path(path).parent_path());
  return summary;
}

JobPrediction read_job_prediction(const std::string& path) {
  const Json results = read_json(path).at("results");
  return {results.at("predicted_host_bytes"), results.at("predicted_device_bytes")};
}

} // namespace ossatura::bench
