// SPDX-License-Identifier: Apache-2.0
// The document of a run comes from a problem file, a mesh file or a generator, changed by the
// command line.
#include "apps/pfem/input/model.hpp"
#include "apps/pfem/input/read_problem.hpp"
#include <ossatura/core/base/require.hpp>

namespace ossatura {

void check_generator(const PfemGenerator& source, const std::string& where,
                     const std::string& dashes) {
  const bool box = source.generator != "sphere" && source.generator != "cylinder",
             cylinder = source.generator == "cylinder";
  const auto shown = [&dashes](const char* key) {
    return dashes.empty() ? '"' + std::string(key) + '"' : dashes + key;
  };
  struct Use {
    const char* key;
    bool given, used;
  };
  for (const Use& use : {Use{"cells", source.cells.has_value(), box},
                         {"size", source.size.has_value(), box},
                         {"shear", source.shear.has_value(), box},
                         {"distort", source.distort.has_value(), box},
                         {"along", source.along.has_value(), !box},
                         {"across", source.across.has_value(), !box},
                         {"up", source.up.has_value(), cylinder},
                         {"inner", source.inner.has_value(), !box},
                         {"outer", source.outer.has_value(), !box},
                         {"height", source.height.has_value(), cylinder}})
    if (use.given && !use.used)
      fail<InputError>(where, shown(use.key), " has no effect on the generator ", source.generator,
                       ": leave it out");
  const PfemGeneratorDefaults defaults;
  const double inner = source.inner.value_or(defaults.inner),
               outer = source.outer.value_or(defaults.outer);
  if (!(inner < outer))
    fail<InputError>(where, shown("inner"), " is ", inner, ", ", shown("outer"), " ", outer,
                     ": the inner radius is less than the outer one");
}

PfemDocument make_pfem_document(const PfemCommandOptions& options) {
  PfemDocument document;
  PfemSource& mesh = document.mesh;
  if (options.kind() == ProblemKind::json) {
    document = read_pfem(options.problem);
  } else {
    document.file = options.problem;
    const bool is_generator = options.kind() == ProblemKind::generator;
    mesh.kind = is_generator ? PfemSource::Kind::generator : PfemSource::Kind::file;
    (is_generator ? mesh.generator : mesh.file) = options.problem;
  }
  const bool is_file = mesh.kind == PfemSource::Kind::file;
  if (!is_file && options.unit)
    fail<UsageError>("--unit has no effect without a mesh file: leave it out");
  mesh.unit = options.unit.value_or(mesh.unit);
  mesh.says_unit = mesh.says_unit || options.unit;
  mesh.seed = options.common.seed;
  const PfemSource& given = options.mesh;
  bool any = false;
  const auto take = [&any](const auto& from, auto& to) {
    if (from) {
      to = from;
      any = true;
    }
  };
  take(given.cells, mesh.cells);
  take(given.size, mesh.size);
  take(given.shear, mesh.shear);
  take(given.distort, mesh.distort);
  take(given.along, mesh.along);
  take(given.across, mesh.across);
  take(given.up, mesh.up);
  take(given.inner, mesh.inner);
  take(given.outer, mesh.outer);
  take(given.height, mesh.height);
  if (is_file && any)
    fail<UsageError>("options of generators have no effect on the mesh ", mesh.file,
                     ": leave them out");
  if (!is_file)
    try {
      check_generator(mesh, "", "--");
    } catch (const InputError& error) {
      throw UsageError(error.what());
    }
  if (options.order) {
    document.orders = {};
    document.orders.all = options.order;
  }
  if (options.young || options.poisson) {
    const char* option = options.young ? "--young" : "--poisson";
    if (!document.material.elasticity.empty())
      fail<UsageError>(option, " has no effect on the material of ", document.file,
                       ", whose moduli differ by direction: leave it out, or change the file");
    document.material_option = option;
    document.is_material_of_options = !document.material.young;
    document.material.young = options.young ? options.young : document.material.young;
    document.material.poisson = options.poisson ? options.poisson : document.material.poisson;
  }
  document.changes.append(options.changes);
  return document;
}

} // namespace ossatura
