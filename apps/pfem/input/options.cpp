// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/input/options.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/record_change.hpp"
#include <ossatura/solvers/pfem/generators.hpp>

namespace ossatura {

namespace {

void add_problem_options(CLI::App& app, PfemCommandOptions& o) {
  app.option_defaults()->group("Problem");
  const PfemGeneratorDefaults d;
  app.add_option(
         "problem,--problem", o.problem,
         "A generator (" + joined(pfem_generator_names(), ", ") +
             "), a problem as .json, or a mesh with supports and loads: .inp of Abaqus and "
             "CalculiX, .cdb of Ansys; docs/pfem.md has all of them. Options below win over "
             "it. `ossatura pfem table3 --help`: the table of the paper")
      ->type_name("NAME|FILE");
  add_parsed(
      app, "--cells", "AxBxC",
      with_default("Cells of cube, sheared, distorted along x, y, z", default_text(d.cells, 'x')),
      [&o](const std::string& text) { o.mesh.cells = parse_triple<int>(text, 'x', "3x3x3"); });
  add_parsed(
      app, "--size", "AxBxC", with_default("Their size in m", default_text(d.size, 'x')),
      [&o](const std::string& text) { o.mesh.size = parse_triple<double>(text, 'x', "2x1x1"); });
  add_parsed(app, "--shear", "XY,XZ,YZ",
             with_default("Move them by so much: x by y, x by z, y by z",
                          "sheared: " + default_text(d.shear, ',')),
             [&o](const std::string& text) {
               o.mesh.shear = parse_triple<double>(text, ',', "0.3,0.2,0.1");
             });
  app.add_option("--distort", o.mesh.distort,
                 with_default("Move their inner vertices by up to so much of an edge, at random "
                              "(by --seed), 0 to 0.5",
                              "distorted: " + default_text(d.distort)))
      ->type_name("X");
  app.add_option(
         "--along", o.mesh.along,
         with_default("Elements along the surface of sphere (each way) and cylinder", d.along))
      ->type_name("N");
  app.add_option("--across", o.mesh.across,
                 with_default("Elements from their inner to their outer surface", d.across))
      ->type_name("N");
  app.add_option("--up", o.mesh.up, with_default("Elements along the axis of cylinder", d.up))
      ->type_name("N");
  app.add_option("--inner", o.mesh.inner, with_default("Their inner radius in m", d.inner))
      ->type_name("X");
  app.add_option("--outer", o.mesh.outer, with_default("Their outer radius in m", d.outer))
      ->type_name("X");
  app.add_option("--height", o.mesh.height, with_default("Of cylinder in m", d.height))
      ->type_name("X");
  app.add_option("--unit", o.unit,
                 with_default("m per unit of length of a mesh file", PfemSource().unit))
      ->type_name("X");
  app.add_option("--young", o.young,
                 with_default("Young's modulus in Pa", "of generators: " + default_text(d.young)))
      ->type_name("X");
  app.add_option("--poisson", o.poisson, with_default("Poisson's ratio", default_pfem_poisson))
      ->type_name("X");
}

void add_discretisation_options(CLI::App& app, PfemCommandOptions& o) {
  app.option_defaults()->group("Elements (defaults: the problem's, else those in parentheses)");
  using O = PfemOptions;
  app.add_option("-p,--order", o.order,
                 with_default("Order of all elements, 1 to 10", default_pfem_order))
      ->type_name("P");
  add_named(app, o.changes, "--space", &O::space,
            "Products of superlinear degree up to the order, or all up to the order");
  const auto rule = add_choice_of(
      app, "--quadrature", name_table<QuadratureRule>, "",
      with_default(
          "Points along each axis; paper: max(2, ceil((3p-2)/2)), which is too few at p = 2",
          default_text(o.changes.defaults.discretisation.rule) +
              "; sphere and cylinder: p+4 points"),
      [&o](QuadratureRule value) {
        o.changes.add([value](O& options) { choose_rule(value, options); });
      });
  app.add_option_function<int>(
         "--points",
         [&o](int value) { o.changes.add([value](O& options) { choose_points(value, options); }); },
         "So many of them")
      ->type_name("N")
      ->excludes(rule);
  add_named(app, o.changes, "--scaling", member_of(&O::discretisation, &HierarchicOptions::scaling),
            "Of integrated Legendre polynomials: derivatives orthonormal, or as in the paper");
}

void add_solver_options(CLI::App& app, PfemCommandOptions& o) {
  app.option_defaults()->group("Linear system (likewise)");
  using S = HierarchicSolverOptions;
  // First, because what it implies gives way to what the others say.
  app.add_flag_callback(
      "--element-wise", [&o] { o.changes.add(choose_element_wise); },
      "Keep the vectors of the iteration element by element, as the paper does: --operator "
      "packed, --preconditioner jacobi or none");
  add_named(app, o.changes, "--operator", of_pfem_solver(&S::kind),
            "How the matrix is applied: element by element, assembled, from the vertices, or one "
            "matrix for elements of one shape");
  add_named(app, o.changes, "--form", of_pfem_solver(&S::form), "How element matrices are formed");
  add_named(app, o.changes, "--preconditioner", of_pfem_solver(&S::preconditioner),
            "vertex-stars: order 1 and the modes around each vertex; ldlt where that takes long, "
            "as in thin plates: a direct solve");
  add_number(app, o.changes, "--tolerance", of_pfem_solver(&S::cg, &CgOptions::tolerance), "X",
             "True residual relative to the first one; of ldlt the error in energy");
  add_number(app, o.changes, "--max-iterations", of_pfem_solver(&S::cg, &CgOptions::max_iterations),
             "N", "At most");
}

void add_result_options(CLI::App& app, PfemCommandOptions& o) {
  app.option_defaults()->group("Results");
  app.add_option("--hdf", o.hdf,
                 "Displacements, stresses and energy density as VTKHDF, for ParaView 5.11 and "
                 "later: each element as a grid of linear hexahedra")
      ->type_name("NAME.hdf");
  app.add_flag("--no-hdf", o.no_hdf, "No such file, even with --output-dir");
  app.add_option("--samples", o.samples,
                 "Cells of that grid along each edge of an element (its order). Largest values are "
                 "those at its points")
      ->type_name("N");
}

} // namespace

ProblemKind PfemCommandOptions::kind() const {
  return problem_kind(problem, pfem_generator_names());
}

void add_pfem_options(CLI::App& app, PfemCommandOptions& options) {
  app.description("Elasticity with hierarchical hexahedra of orders 1 to 10.\nLengths in m, forces "
                  "in N, moduli in Pa, energies in J.");
  add_problem_options(app, options);
  add_discretisation_options(app, options);
  add_solver_options(app, options);
  add_result_options(app, options);
  add_common_options(app, options.common,
                     {{Precision::mixed, Precision::fp64},
                      "Of the inverses of vertex stars; all else is in double precision",
                      true});
  app.footer(std::string(
                 "Examples:\n"
                 "  ossatura pfem sphere --order 6 -o out\n"
                 "      out/sphere.hdf and .summary.json, with the errors against Lame's solution\n"
                 "  ossatura pfem distorted --cells 8x8x8 --order 5 --operator matrix-free\n"
                 "  ossatura pfem examples/pfem/laminate.json -o out\n"
                 "  ossatura pfem table3 --elements 1000\n\n") +
             exit_code_help());
}

void note_given_options(const CLI::App& app, PfemCommandOptions& options) {
  if (app.count("--precision") > 0)
    options.changes.set(of_pfem_solver(&HierarchicSolverOptions::precision),
                        *options.common.precision);
}

} // namespace ossatura
