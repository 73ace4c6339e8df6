// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/strength_options.hpp"

#include "apps/bone/input/options.hpp"
#include "apps/driver/options/check.hpp"
#include "apps/driver/options/default_text.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/communicator.hpp>

#include <cmath>

namespace ossatura {

void add_strength_options(CLI::App& app, StrengthChoice& choice) {
  const YieldLaw law;
  app.option_defaults()->group("Strength");
  add_choice(app, "--strength", choice.criterion,
             "Load the bone beyond its yield, in steps up to --strain, for the yield load and the "
             "ultimate load. von-mises: yields alike in tension and compression; drucker-prager: "
             "a cone through both; damage: softens beyond that cone, and breaks");
  app.add_option("--yield-strain", choice.yield_strain,
                 with_default("Yield in compression by the modulus of a voxel; of von-mises in "
                              "tension, too",
                              law.compression))
      ->type_name("X");
  app.add_option("--yield-strain-tension", choice.yield_strain_tension,
                 with_default("drucker-prager, damage: the same in tension", law.tension))
      ->type_name("X");
  app.add_option("--yield-stress", choice.yield_stress,
                 "Yield stress in compression, in place of --yield-strain")
      ->type_name("MPA");
  app.add_option("--yield-stress-tension", choice.yield_stress_tension,
                 "drucker-prager, damage: yield stress in tension, goes with --yield-stress")
      ->type_name("MPA");
  app.add_option("--hardening", choice.hardening,
                 "Slope of stress by strain behind yield in compression, by the modulus; 0: "
                 "perfectly plastic")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--fracture-energy", choice.fracture_energy,
                 "damage: what a crack takes for its area in tension, in N/mm (kJ/m2)")
      ->type_name("N/MM");
  app.add_option("--load-steps", choice.steps, "Steps, of equal displacement")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--yield-offset", choice.offset,
                 "The yield load is where the curve meets the elastic line, shifted by this strain")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--curve", choice.curve,
                 "Force, displacement, energies and voxels beyond yield, a row for each step; with "
                 "--output-dir NAME.curve.csv")
      ->type_name("CSV");
  add_checkpoint_options(app, choice, "The last step",
                         "bone, law and test; --strain may be larger and --load-steps others");
}

YieldLaw yield_law(const StrengthChoice& choice) {
  YieldLaw law;
  law.criterion = choice.criterion.value();
  law.are_strains = !choice.yield_stress;
  const bool breaks = law.criterion == YieldCriterion::damage;
  law.hardening = breaks ? 0 : choice.hardening;
  law.fracture_energy = breaks ? choice.fracture_energy : 0;
  if (choice.yield_stress) {
    law.compression = *choice.yield_stress;
    law.tension = choice.yield_stress_tension.value_or(*choice.yield_stress);
  } else {
    law.compression = choice.yield_strain.value_or(law.compression);
    law.tension = choice.yield_strain_tension.value_or(law.tension);
  }
  if (law.criterion == YieldCriterion::von_mises)
    law.tension = law.compression;
  return law;
}

namespace {

void require_yield_strain(const char* option, std::optional<double> strain, const char* usual) {
  if (strain && !(*strain > 0 && *strain <= 0.2))
    fail<UsageError>(option, ' ', *strain,
                     ": a part and no per cent, greater than 0 and at most 0.2, such as ", usual);
}

void check_law(const StrengthChoice& choice) {
  require_yield_strain("--yield-strain", choice.yield_strain, "0.0081");
  require_yield_strain("--yield-strain-tension", choice.yield_strain_tension, "0.0033");
  require_positive("--yield-stress", choice.yield_stress, "in MPa");
  require_positive("--yield-stress-tension", choice.yield_stress_tension, "in MPa");
  if (choice.yield_stress && (choice.yield_strain || choice.yield_strain_tension))
    fail<UsageError>("both --yield-stress and yield strains: leave one out");
  const std::string name = name_of(*choice.criterion);
  if (choice.yield_stress && name != "von-mises" && !choice.yield_stress_tension)
    fail<UsageError>("--strength ", name, " with --yield-stress needs --yield-stress-tension, too");
  if (choice.criterion == YieldCriterion::damage && !(choice.fracture_energy > 0))
    fail<UsageError>("--strength damage needs --fracture-energy in N/mm, greater than 0: what a "
                     "crack takes for its area");
  const YieldLaw law = yield_law(choice);
  if (!(law.compression < largest_yield_ratio * law.tension &&
        law.tension < largest_yield_ratio * law.compression))
    fail<UsageError>("yield at ", law.tension, " in tension and ", law.compression,
                     " in compression: a cone takes up to ", largest_yield_ratio,
                     " times as much of one as of the other, for a flatter one never yields where "
                     "two axes are compressed alike");
  if (!(choice.hardening >= 0 && choice.hardening < 1))
    fail<UsageError>("--hardening ", choice.hardening, ": from 0 to less than 1, such as 0.05");
  require_between("--load-steps", choice.steps, 1, 100000);
  if (!(choice.offset > 0 && choice.offset <= 0.05)) // offsets of studies are 0.0002 to 0.01
    fail<UsageError>("--yield-offset ", choice.offset,
                     ": a strain and no per cent, greater than 0 and at most 0.05, such as 0.002");
}

} // namespace

void check_fracture_energy(const BoneOptions& options, double edge, double modulus_min,
                           double modulus_max) {
  const StrengthChoice& choice = options.strength;
  if (choice.criterion != YieldCriterion::damage)
    return;
  const YieldLaw law = yield_law(choice);
  const double modulus = law.are_strains ? modulus_max : modulus_min;
  const double least = least_fracture_energy(law, edge, modulus);
  if (!(law.fracture_energy > least))
    fail<InputError>(options.input, options.input.empty() ? "" : ": ", "--fracture-energy ",
                     format_number(law.fracture_energy), ": voxels of ", format_number(edge),
                     " mm and ", format_number(modulus), " MPa store ", format_number(least),
                     " N/mm when damage begins: give a larger one, smaller voxels, or less strain "
                     "where damage begins");
}

void check_strength_options(const CLI::App& app, const BoneOptions& o) {
  const StrengthChoice& choice = o.strength;
  const bool yields = choice.criterion.has_value();
  const bool breaks = choice.criterion == YieldCriterion::damage;
  const bool is_cone = breaks || choice.criterion == YieldCriterion::drucker_prager;
  require_effect(app, {{"--yield-strain", yields, "--strength"},
                       {"--yield-strain-tension", is_cone, "--strength drucker-prager or damage"},
                       {"--yield-stress", yields, "--strength"},
                       {"--yield-stress-tension", is_cone && choice.yield_stress,
                        "--strength drucker-prager or damage, and --yield-stress"},
                       {"--hardening", yields && !breaks, "--strength von-mises or drucker-prager"},
                       {"--fracture-energy", breaks, "--strength damage"},
                       {"--load-steps", yields, "--strength"},
                       {"--yield-offset", yields, "--strength"},
                       {"--curve", yields, "--strength"},
                       {"--checkpoint", yields, "--strength"},
                       {"--checkpoint-every", yields, "--strength"},
                       {"--resume", yields, "--strength"},
                       {"--pistoia-strain", !yields, "an elastic test, without --strength"},
                       {"--pistoia-volume", !yields, "an elastic test, without --strength"}});
  if (!yields)
    return;
  check_law(choice);
  check_checkpoint_options(app, choice);
  if (o.test == LoadTest::homogenise)
    fail<UsageError>("--strength follows one load, and --test homogenise has six elastic ones: "
                     "choose a test between plates");
  if (o.test == LoadTest::symmetric_shear)
    fail<UsageError>("--strength follows the force on a plate, and --test symshear has no plates: "
                     "choose shear-AB");
  if (!o.force.empty() || !o.force_file.empty())
    fail<UsageError>("--strength goes by displacement, for a force beyond the ultimate load has no "
                     "answer: prescribe it with --fix in place of --force");
  if (is_cohort(o) && !choice.curve.empty())
    fail<UsageError>("--curve names one file, and there are several inputs: give --output-dir, "
                     "and each has its own");
  if (divides_model(o, Communicator::world().size()))
    fail<UsageError>("--strength is for one process a model: start one, or divide several inputs");
}

} // namespace ossatura
