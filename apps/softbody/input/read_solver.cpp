// SPDX-License-Identifier: Apache-2.0
// The reader takes the "solver" part from a scene.
#include "apps/driver/options/notation.hpp"
#include "apps/driver/problem/json_changes.hpp"
#include "apps/softbody/input/read_scene.hpp"

namespace ossatura {

void parse_refresh(const std::string& text, SoftOptions& options) {
  const char* expected = "sync, every:K with a whole K of at least 1, or background";
  if (text == "sync" || text == "background") {
    options.refresh = text == "sync" ? FactorRefresh::sync : FactorRefresh::background;
    return;
  }
  const auto [name, count] = split_at(text, ':', expected);
  const int every = name == "every" ? parse_number<int>(count) : 0;
  if (every < 1)
    throw std::invalid_argument("'" + text + "': expected " + expected);
  options.refresh = FactorRefresh::every;
  options.refresh_every = every;
}

std::string refresh_text(const SoftOptions& options) {
  const std::string name = name_of(options.refresh);
  return options.refresh == FactorRefresh::every
             ? name + ':' + std::to_string(options.refresh_every)
             : name;
}

void read_solver(const JsonPlace& place, SoftOptions& o) {
  place.require_object({"newton_iterations", "newton_tolerance", "tolerance", "max_iterations",
                        "batch", "assembly", "product", "preconditioner", "refresh",
                        "refresh_after", "factor", "apply", "factor_storage", "bands", "warp",
                        "contact_iterations", "contact_tolerance", "max_halvings"});
  const char* small = "a relative tolerance, greater than 0 and less than 1, such as 1e-9";
  Changes<SoftOptions> changes;
  ChangeReader<SoftOptions> read(place, changes);
  read.count("newton_iterations", &SoftOptions::newton_iterations, 1,
             "Newton iterations of a step, at least 1");
  read.fraction("newton_tolerance", &SoftOptions::newton_tolerance, small);
  read.fraction("tolerance", &SoftOptions::tolerance, small);
  read.count("max_iterations", &SoftOptions::max_iterations, 1,
             "iterations of conjugate gradients, at least 1");
  read.count("batch", &SoftOptions::batch, 0, "iterations between two looks at the residual, or 0");
  read.choose("assembly", &SoftOptions::assembly);
  read.choose("product", &SoftOptions::product);
  read.choose("preconditioner", &SoftOptions::preconditioner);
  if (const auto refresh = place.find("refresh")) {
    const char* expected = "\"sync\", \"every:K\" with a whole K of at least 1, or \"background\"";
    try {
      parse_refresh(refresh->text(expected), o);
    } catch (const std::invalid_argument&) {
      refresh->fail_value(expected);
    }
  }
  read.choose("factor", &SoftOptions::place);
  read.choose("apply", &SoftOptions::apply);
  read.choose("factor_storage", &SoftOptions::storage);
  read.count("bands", &SoftOptions::bands, 0, "bands of the inverse factor, 1 to 8, or 0",
             max_inverse_bands);
  read.flag("warp", &SoftOptions::warp);
  read.count("contact_iterations", &SoftOptions::contact_iterations, 1,
             "sweeps over the contacts, at least 1");
  read.fraction("contact_tolerance", &SoftOptions::contact_tolerance, small);
  read.count("refresh_after", &SoftOptions::refresh_after, 1,
             "iterations after which the factor is made anew, at least 1");
  read.count("max_halvings", &SoftOptions::max_halvings, 0,
             "how often a step may be halved, 0 to 30", 30);
  changes.apply_to(o);
}

} // namespace ossatura
