// SPDX-License-Identifier: Apache-2.0
// How a design is found: the keys of a problem that options replace.
#include "apps/driver/json_place.hpp"
#include "apps/topopt/read_problem.hpp"
#include "apps/topopt/topopt_choices.hpp"

#include <limits>

namespace femura {

namespace {

using Place = JsonPlace;
constexpr int most = std::numeric_limits<int>::max();

/// Collects changes of the options from the members of one object.
class Collector {
public:
  Collector(const Place& place, ProblemDocument& problem)
      : place_(place)
      , problem_(problem) {}

  template<class Read, class Value>
  void set(const char* name, Value DesignOptions::*member, const Read& read) {
    if (const auto found = place_.find(name)) {
      const Value value = read(*found);
      problem_.changes.push_back([member, value](DesignOptions& o) { o.*member = value; });
    }
  }
  template<class Read, class Value>
  void set_solver(const char* name, Value HexaSolverOptions::*member, const Read& read) {
    if (const auto found = place_.find(name)) {
      const Value value = read(*found);
      problem_.changes.push_back([member, value](DesignOptions& o) { o.solver.*member = value; });
    }
  }

private:
  const Place& place_;
  ProblemDocument& problem_;
};

/// A number greater than 0 and less than 1.
auto fraction(const char* expected) {
  return [expected](const Place& place) {
    const double value = place.positive(expected);
    if (!(value < 1))
      place.fail_value(expected);
    return value;
  };
}

/// A number of at least `least`, or {"start", "end", "every", "factor" or "increment"}.
auto growing(double least, const char* expected) {
  return [least, expected](const Place& place) {
    const auto number = [&](const Place& p) {
      const double value = p.number(expected);
      if (!(value >= least))
        p.fail_value(expected);
      return value;
    };
    if (!place.json().is_object()) {
      const double value = number(place);
      return Continuation{value, value};
    }
    place.require_object({"start", "end", "every", "factor", "increment"});
    Continuation result{number(place.at("start", expected)), number(place.at("end", expected))};
    if (!(result.end >= result.start))
      place.at("end", "").fail_value("at least what it starts from");
    const char* every = "steps from one change to the next, at least 1";
    result.every = place.at("every", every).whole(1, most, every);
    const std::string name = place.only_name({"factor", "increment"});
    const Place change = place.at(name, "");
    if (name == "factor") {
      result.factor = change.positive("a factor greater than 1");
      if (!(result.factor > 1))
        change.fail_value("a factor greater than 1");
    } else {
      result.increment = change.positive("an increment greater than 0");
    }
    return result;
  };
}

auto count(int least, const char* expected) {
  return [least, expected](const Place& place) { return place.whole(least, most, expected); };
}

void read_filter(const Place& place, ProblemDocument& problem) {
  place.require_object({"kind", "radius"});
  Collector read(place, problem);
  read.set("kind", &DesignOptions::filter,
           [](const Place& p) { return p.choice(filter_choices()); });
  read.set("radius", &DesignOptions::radius,
           [](const Place& p) { return p.positive("the radius of the filter in m"); });
}

void read_projection(const Place& place, ProblemDocument& problem) {
  if (place.json().is_boolean()) {
    const bool on = place.boolean();
    problem.changes.push_back([on](DesignOptions& o) { o.projection = on; });
    return;
  }
  place.require_object({"threshold", "sharpness"});
  problem.changes.push_back([](DesignOptions& o) { o.projection = true; });
  Collector read(place, problem);
  read.set("threshold", &DesignOptions::threshold, fraction("a density between 0 and 1"));
  read.set("sharpness", &DesignOptions::sharpness,
           growing(0.01, "beta of the projection, at least 0.01"));
}

void read_linear_solver(const Place& place, ProblemDocument& problem) {
  place.require_object({"operator", "preconditioner", "precision", "tolerance", "max_iterations",
                        "chebyshev_degree", "warm_start"});
  Collector read(place, problem);
  read.set_solver("operator", &HexaSolverOptions::kind,
                  [](const Place& p) { return p.choice(operator_choices()); });
  read.set_solver("preconditioner", &HexaSolverOptions::preconditioner,
                  [](const Place& p) { return p.choice(hexa_preconditioner_choices()); });
  read.set_solver("precision", &HexaSolverOptions::precision,
                  [](const Place& p) { return p.choice(hexa_precision_choices()); });
  read.set_solver("tolerance", &HexaSolverOptions::tolerance,
                  fraction("a relative tolerance, greater than 0 and less than 1"));
  read.set_solver("max_iterations", &HexaSolverOptions::max_iterations,
                  count(1, "iterations of one solve, at least 1"));
  read.set_solver("chebyshev_degree", &HexaSolverOptions::chebyshev_degree,
                  count(1, "the degree of the polynomial, at least 1"));
  read.set("warm_start", &DesignOptions::warm_start, [](const Place& p) { return p.boolean(); });
}

} // namespace

std::vector<std::string> design_keys() {
  return {"volume_fraction", "filter", "projection", "penalty", "min_modulus", "method", "move",
          "start",           "change", "steps",      "solver"};
}

void read_design(const JsonPlace& place, ProblemDocument& problem) {
  Collector read(place, problem);
  read.set("volume_fraction", &DesignOptions::volume_fraction,
           fraction("a part of the volume, greater than 0 and less than 1"));
  read.set("penalty", &DesignOptions::penalty,
           growing(1, "the power p of the densities, at least 1"));
  read.set("min_modulus", &DesignOptions::min_modulus,
           fraction("the modulus of void by that of solid, greater than 0 and less than 1"));
  read.set("method", &DesignOptions::method,
           [](const Place& p) { return p.choice(method_choices()); });
  read.set("move", &DesignOptions::move, [](const Place& p) {
    const char* expected = "the largest change in a step, greater than 0 and at most 1";
    const double value = p.positive(expected);
    if (value > 1)
      p.fail_value(expected);
    return value;
  });
  read.set("start", &DesignOptions::start, fraction("the density of the first design"));
  read.set("change", &DesignOptions::change_tolerance, [](const Place& p) {
    return p.not_negative("the change of a variable that ends the run, at least 0");
  });
  read.set("steps", &DesignOptions::max_steps, count(1, "steps at most, at least 1"));
  problem.has_steps = place.has("steps");
  if (const auto filter = place.find("filter"))
    read_filter(*filter, problem);
  if (const auto projection = place.find("projection"))
    read_projection(*projection, problem);
  if (const auto solver = place.find("solver"))
    read_linear_solver(*solver, problem);
}

} // namespace femura
