// SPDX-License-Identifier: Apache-2.0
#include "bench/bone/scaling/ranks_summary.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace ossatura::bench {

namespace {

void read_steps(const nlohmann::json& results, RanksSummary& summary) {
  summary.objective = results.at("objective");
  for (const char* phase : {"prepare", "solve", "gradient", "update"}) {
    const auto seconds =
        results.at("steps").at(phase + std::string("_seconds")).get<std::vector<double>>();
    const double mean =
        std::accumulate(seconds.begin(), seconds.end(), 0.0) / double(seconds.size());
    summary.step_seconds += mean;
    summary.update_seconds = mean; // the last
  }
}

} // namespace

RanksSummary read_ranks_summary(const std::string& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded())
    throw std::runtime_error(path + " is no JSON");
  const auto& engine = json.at("engine");
  const auto& memory = json.at("memory");
  RanksSummary summary;
  summary.ranks = engine.at("ranks");
  summary.transport = engine.value("transport", "none");
  summary.superblock_voxels = engine.value("superblock_voxels", 0);
  for (const auto& level : engine.value("cut_levels", nlohmann::json::array()))
    summary.cut_levels.push_back({level.at("largest_rank_nodes"), level.at("largest_rank_ghosts"),
                                  level.at("ghosts"), level.at("most_neighbours")});
  summary.largest_kokkos_peak =
      memory.value("largest_rank_kokkos_peak_bytes", memory.at("kokkos_peak_bytes").get<double>());
  summary.iterations = json.at("iterations");
  if (json.at("results").contains("steps_taken"))
    read_steps(json.at("results"), summary);
  return summary;
}

} // namespace ossatura::bench
