// SPDX-License-Identifier: Apache-2.0
// This umbrella header includes everything of solvers/ that programs use. bone/multigrid/cycle.hpp,
// with its templates, is apart.
#pragma once

// Iterations
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/lanczos.hpp>
#include <ossatura/solvers/krylov/polynomial_smoother.hpp>

// Voxel elasticity
#include <ossatura/solvers/bone/islands.hpp>
#include <ossatura/solvers/bone/load.hpp>
#include <ossatura/solvers/bone/problem.hpp>
#include <ossatura/solvers/bone/remodelling.hpp>
#include <ossatura/solvers/bone/results/homogenisation.hpp>
#include <ossatura/solvers/bone/results/labels.hpp>
#include <ossatura/solvers/bone/results/mask_section.hpp>
#include <ossatura/solvers/bone/results/pistoia.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/results/statistics.hpp>
#include <ossatura/solvers/bone/solver.hpp>
#include <ossatura/solvers/bone/strength.hpp>
#include <ossatura/solvers/bone/support_checks.hpp>
#include <ossatura/solvers/bone/unit_cell.hpp>

// Elasticity on hexahedra
#include <ossatura/solvers/hexa/operators.hpp>
#include <ossatura/solvers/hexa/solver.hpp>

// Elasticity on solid elements of other kinds
#include <ossatura/solvers/solids/solver.hpp>

// Activation times
#include <ossatura/solvers/eikonal/activation_statistics.hpp>
#include <ossatura/solvers/eikonal/conducting_parts.hpp>
#include <ossatura/solvers/eikonal/ranks/solver.hpp>
#include <ossatura/solvers/eikonal/sites.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>
#include <ossatura/solvers/eikonal/velocities.hpp>

// Soft bodies
#include <ossatura/solvers/factor/nested_dissection.hpp>
#include <ossatura/solvers/factor/on_host.hpp>
#include <ossatura/solvers/krylov/resident_solve.hpp>
#include <ossatura/solvers/softbody/contact/solver.hpp>
#include <ossatura/solvers/softbody/crossing_watch.hpp>
#include <ossatura/solvers/softbody/doubts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>
#include <ossatura/solvers/softbody/solver.hpp>
#include <ossatura/solvers/softbody/step_statistics.hpp>
#include <ossatura/solvers/softbody/unit_checks.hpp>

// Topology optimisation
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/bodies/solids.hpp>
#include <ossatura/solvers/topopt/check_options.hpp>
#include <ossatura/solvers/topopt/filters/helmholtz.hpp>
#include <ossatura/solvers/topopt/generators.hpp>
#include <ossatura/solvers/topopt/mma.hpp>
#include <ossatura/solvers/topopt/optimality_criteria.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>
#include <ossatura/solvers/topopt/part/hinges.hpp>
#include <ossatura/solvers/topopt/part/remaining_parts.hpp>
#include <ossatura/solvers/topopt/parts.hpp>
#include <ossatura/solvers/topopt/start.hpp>

// Hexahedra of high order
#include <ossatura/solvers/pfem/generators.hpp>
#include <ossatura/solvers/pfem/held_loads.hpp>
#include <ossatura/solvers/pfem/loads.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/operators.hpp>
#include <ossatura/solvers/pfem/orthotropy.hpp>
#include <ossatura/solvers/pfem/solver.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>
