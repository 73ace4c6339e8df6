// SPDX-License-Identifier: Apache-2.0
// The document of a run comes from a problem file, a mesh file or a generator, changed by the
// command line.
#include "apps/pfem/input/generators.hpp"
#include "apps/pfem/input/model.hpp"
#include "apps/pfem/input/read_problem.hpp"
#include <ossatura/core/base/require.hpp>

namespace ossatura {

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
    document.material.elasticity.clear();
    document.material.young = options.young ? options.young : document.material.young;
    document.material.poisson = options.poisson ? options.poisson : document.material.poisson;
  }
  document.changes.append(options.changes);
  return document;
}

} // namespace ossatura
