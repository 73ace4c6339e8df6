// SPDX-License-Identifier: Apache-2.0
// The "solver" part of a scene.
#include "apps/driver/json_place.hpp"
#include "apps/driver/notation.hpp"
#include "apps/softbody/read_scene.hpp"
#include "apps/softbody/softbody_choices.hpp"

#include <limits>

namespace femura {

namespace {

constexpr int most = std::numeric_limits<int>::max();

/// Calls `read(place)` where there is such a key.
template<class Read>
void where_given(const JsonPlace& place, const char* name, const Read& read) {
  if (const auto member = place.find(name))
    read(*member);
}

double small_tolerance(const JsonPlace& place) {
  const char* expected = "a relative tolerance, greater than 0 and less than 1, such as 1e-9";
  const double value = place.positive(expected);
  if (!(value < 1))
    place.fail_value(expected);
  return value;
}

} // namespace

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
  using Place = const JsonPlace&;
  where_given(place, "newton_iterations", [&](Place p) {
    o.newton_iterations = p.whole(1, most, "Newton iterations of a step, at least 1");
  });
  where_given(place, "newton_tolerance", [&](Place p) { o.newton_tolerance = small_tolerance(p); });
  where_given(place, "tolerance", [&](Place p) { o.tolerance = small_tolerance(p); });
  where_given(place, "max_iterations", [&](Place p) {
    o.max_iterations = p.whole(1, most, "iterations of conjugate gradients, at least 1");
  });
  where_given(place, "batch", [&](Place p) {
    o.batch = p.whole(0, most, "iterations between two looks at the residual, or 0");
  });
  where_given(place, "assembly", [&](Place p) { o.assembly = p.choice(assembly_choices()); });
  where_given(place, "product", [&](Place p) { o.product = p.choice(product_choices()); });
  where_given(place, "preconditioner",
              [&](Place p) { o.preconditioner = p.choice(preconditioner_choices()); });
  where_given(place, "refresh", [&](Place p) {
    const char* expected = "\"sync\", \"every:K\" with a whole K of at least 1, or \"background\"";
    try {
      parse_refresh(p.text(expected), o);
    } catch (const std::invalid_argument&) {
      p.fail_value(expected);
    }
  });
  where_given(place, "factor", [&](Place p) { o.place = p.choice(factor_choices()); });
  where_given(place, "apply", [&](Place p) { o.apply = p.choice(apply_choices()); });
  where_given(place, "factor_storage", [&](Place p) { o.storage = p.choice(storage_choices()); });
  where_given(place, "bands", [&](Place p) {
    o.bands = p.whole(0, max_inverse_bands, "bands of the inverse factor, 1 to 8, or 0");
  });
  where_given(place, "warp", [&](Place p) { o.warp = p.boolean(); });
  where_given(place, "contact_iterations", [&](Place p) {
    o.contact_iterations = p.whole(1, most, "sweeps over the contacts, at least 1");
  });
  where_given(place, "contact_tolerance",
              [&](Place p) { o.contact_tolerance = small_tolerance(p); });
  where_given(place, "refresh_after", [&](Place p) {
    o.refresh_after =
        p.whole(1, most, "iterations after which the factor is made anew, at least 1");
  });
  where_given(place, "max_halvings", [&](Place p) {
    o.max_halvings = p.whole(0, 30, "how often a step may be halved, 0 to 30");
  });
}

} // namespace femura
