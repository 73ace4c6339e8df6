// SPDX-License-Identifier: Apache-2.0
#include "bench/jobs/job_list.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ossatura::bench {

namespace {

constexpr bool large = true;

/// OSSATURA_SHARED_DATA; null where it is not set.
const char* shared_data() {
  const char* const folder = std::getenv("OSSATURA_SHARED_DATA");
  return folder == nullptr || *folder == '\0' ? nullptr : folder;
}

} // namespace

// Sizes in the names: voxels or elements along an axis, edges of tetrahedra in 1/100 mm, steps.
const std::vector<Job>& all_jobs() {
  static const std::vector<Job> jobs = {
      {"bone", "sphere:32", {"--generate", "sphere", "--size", "32"}},
      {"bone",
       "laminate:32",
       {"--generate", "laminate", "--size", "32", "--layers", "4=10000,4=1000"}},
      {"bone", "perlin:64", {"--generate", "perlin", "--size", "64"}},
      {"bone",
       "homogenise:48",
       {"--generate", "perlin", "--size", "48", "--feature", "24", "--test", "homogenise"}},
      {"bone",
       "homogenise-periodic:48",
       {"--generate", "perlin", "--size", "48", "--feature", "24", "--test", "homogenise",
        "--boundary", "periodic", "--islands", "drop"}},
      {"bone",
       "homogenise-periodic:200",
       {"--generate", "sphere", "--size", "200", "--radius", "80", "--outer-modulus", "100",
        "--test", "homogenise", "--boundary", "periodic"},
       large},
      {"bone",
       "radius",
       {"@examples/bone/radius.mha", "--law", "threshold", "--lower", "320", "--modulus", "6829"}},
      {"bone",
       "radius-mask",
       {"@examples/bone/radius.mha", "--mask", "@examples/bone/radius-labels.nii.gz",
        "--mask-labels", "2", "--law", "linear", "--slope", "20", "--lower", "320"}},
      {"bone", "tibia", {"@data/bone/tibia.h5"}},
      {"bone", "trab1240", {"@data/bone/trab1240.h5"}},
      {"bone",
       "perlin:550",
       {"--generate", "perlin", "--size", "550", "--feature", "43", "--largest-component"},
       large},
      {"bone",
       "perlin-no-fields:550",
       {"--generate", "perlin", "--size", "550", "--feature", "43", "--largest-component",
        "--no-hdf"},
       large},
      {"eikonal", "slab:50", {"--generate", "slab:h=0.5"}},
      {"eikonal",
       "wall",
       {"@examples/eikonal/wall.pts", "--velocities", "@examples/eikonal/tissues.json", "--site",
        "vtx:@examples/eikonal/endocardium.vtx"}},
      {"eikonal", "ventricles:300", {"--generate", "ventricles:h=3"}},
      {"eikonal", "ventricles:72", {"--generate", "ventricles:h=0.72"}},
      {"eikonal", "ventricles:36", {"--generate", "ventricles:h=0.36"}, large},
      {"softbody", "cloth:10", {"@examples/softbody/cloth.json", "--steps", "10"}},
      {"softbody", "pile:20", {"@examples/softbody/pile.json", "--steps", "20"}},
      {"softbody",
       "raptor:100",
       {"@examples/softbody/raptor.json", "--mesh", "raptor=@data/softbody/raptorTetra_8418.vtu",
        "--steps", "100"}},
      {"softbody",
       "raptor:1000",
       {"@examples/softbody/raptor.json", "--mesh", "raptor=@data/softbody/raptorTetra_8418.vtu",
        "--steps", "1000"},
       large},
      {"topopt", "cantilever:16", {"cantilever", "--cells", "16x8x8", "--steps", "5"}},
      {"topopt", "bridge:10", {"@examples/topopt/bridge.json", "--steps", "10"}},
      // On voxels: a surface that is filled, smoothed, written twice and solved again.
      {"topopt",
       "bracket:6",
       {"@examples/topopt/bracket.json", "--steps", "6", "--penalty", "3", "--stl-level", "0.2",
        "--3mf", "bracket.3mf"}},
      {"topopt",
       "cantilever-levels:32",
       {"cantilever", "--cells", "32x16x16", "--grid", "voxels", "--steps", "8", "--levels", "1",
        "--bound"}},
      {"topopt", "cantilever:120", {"cantilever", "--cells", "120x60x60", "--steps", "30"}, large},
      {"topopt", "cantilever:494", {"cantilever", "--cells", "494x247x247", "--steps", "1"}, large},
      {"pfem", "sphere", {"sphere"}},
      {"pfem", "pressure-vessel", {"@examples/pfem/pressure-vessel.json"}},
      {"pfem", "laminate", {"@examples/pfem/laminate.json"}},
  };
  return jobs;
}

JobArguments arguments_of(const Job& job) {
  JobArguments found;
  const char* const data = shared_data();
  for (std::string word : job.arguments) {
    if (const std::size_t at = word.find('@'); at != std::string::npos) {
      const bool is_data = word.compare(at, 6, "@data/") == 0;
      if (is_data && data == nullptr) {
        found.missing = "OSSATURA_SHARED_DATA is not set";
        return found;
      }
      const std::string file =
          (is_data ? data : OSSATURA_EXAMPLES) + word.substr(word.find('/', at));
      std::error_code error;
      if (!std::filesystem::exists(file, error)) {
        found.missing = "there is no " + file;
        return found;
      }
      word = word.substr(0, at) + std::filesystem::absolute(file, error).string();
    }
    found.words.push_back(word);
  }
  return found;
}

} // namespace ossatura::bench
