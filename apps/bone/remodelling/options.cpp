// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/remodelling/options.hpp"

#include "apps/bone/input/options.hpp"
#include "apps/driver/options/check.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/communicator.hpp>

#include <cmath>

namespace ossatura {

void add_remodelling_options(CLI::App& app, RemodellingChoice& choice) {
  app.option_defaults()->group("Remodelling");
  RemodellingLaw& law = choice.law;
  app.add_option(
         "--remodel", choice.steps,
         "Steps in which the density of --law power follows the strain energy by mass under "
         "the load; 0: none. Results are of the last state")
      ->type_name("STEPS")
      ->capture_default_str();
  app.add_option("--remodel-stimulus", law.stimulus,
                 "Strain energy by mass at which bone stays as it is")
      ->type_name("J/G");
  app.add_option("--remodel-lazy", law.lazy,
                 "Half width of the lazy zone around it, in which nothing changes, as a part of it")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--remodel-rate", law.rate,
                 "Change of density in a step, in g/cm3, for each J/g beyond the lazy zone")
      ->type_name("X");
  add_list(app, "--remodel-range", "MIN,MAX", "Densities that bone keeps to, in g/cm3",
           [&law](const std::vector<std::string>& items) {
             if (items.size() != 2)
               throw std::invalid_argument("expected MIN,MAX");
             law.least = parse_number<double>(items[0]);
             law.most = parse_number<double>(items[1]);
           });
}

namespace {

/// Of bone, pads and caps.
void require_equal_ratios(const BoneOptions& o) {
  const double bone = o.poisson.value_or(0.3);
  const auto require = [bone](const char* option, double other) {
    if (other != bone)
      fail<UsageError>("--remodel takes one Poisson's ratio: ", option, " has ", other,
                       ", and bone ", bone, " (--poisson)");
  };
  for (const auto& [label, pad] : o.labels_of_mask.pads)
    require("a pad", pad.poisson.value_or(bone));
  for (const auto& cap : {o.anatomy.cap.lower, o.anatomy.cap.upper})
    if (cap)
      require("a cap", cap->poisson);
}

} // namespace

void check_remodelling_options(const CLI::App& app, const BoneOptions& o) {
  const RemodellingLaw& law = o.remodelling.law;
  require_between("--remodel", o.remodelling.steps, 0, 100000);
  const bool remodels = o.remodelling.steps > 0;
  require_effect(app, {{"--remodel-stimulus", remodels, "--remodel"},
                       {"--remodel-lazy", remodels, "--remodel"},
                       {"--remodel-rate", remodels, "--remodel"},
                       {"--remodel-range", remodels, "--remodel"}});
  if (!remodels)
    return;
  for (const char* option : {"--remodel-stimulus", "--remodel-rate", "--remodel-range"})
    if (app.count(option) == 0)
      fail<UsageError>("--remodel needs ", option, ": it differs between studies");
  require_positive("--remodel-stimulus", law.stimulus, "in J/g");
  require_positive("--remodel-rate", law.rate, "in g/cm3 for each J/g");
  if (!(law.lazy >= 0 && law.lazy < 1))
    fail<UsageError>("--remodel-lazy ", law.lazy, ": a part, from 0 to less than 1, such as 0.1");
  if (!(law.least > 0 && law.least < law.most && law.most <= 100))
    fail<UsageError>("--remodel-range ", law.least, ',', law.most,
                     ": densities in g/cm3, greater than 0 and in order, such as 0.01,1.74");
  if (o.law != GreyLaw::power)
    fail<UsageError>("--remodel changes densities, which --law power alone makes moduli of");
  if (o.test == LoadTest::homogenise)
    fail<UsageError>("--remodel follows one load, and --test homogenise has six");
  if (o.strength.criterion)
    fail<UsageError>("--remodel is of elastic bone, and --strength loads it beyond: leave one out");
  if (!o.labels_of_mask.laws.empty())
    fail<UsageError>("--remodel changes densities by one --law power, and --label-laws has others: "
                     "leave one out");
  require_equal_ratios(o);
  if (divides_model(o, Communicator::world().size()))
    fail<UsageError>("--remodel is for one process a model: start one, or divide several inputs");
}

RemodellingLaw remodelling_law(const BoneOptions& options) {
  RemodellingLaw law = options.remodelling.law;
  law.coefficient = options.coefficient;
  law.exponent = options.exponent;
  return law;
}

} // namespace ossatura
