// SPDX-License-Identifier: Apache-2.0
// Everything of solvers/ that programs use. multigrid.hpp, with its templates, is apart.
#pragma once

// Iterations
#include "solvers/cg.hpp"
#include "solvers/lanczos.hpp"
#include "solvers/polynomial_smoother.hpp"

// Voxel elasticity
#include "solvers/voxel_problem.hpp"
#include "solvers/voxel_solver.hpp"

// Elasticity on hexahedra
#include "solvers/hexa_operators.hpp"
#include "solvers/hexa_solver.hpp"

// Activation times
#include "solvers/eikonal_solver.hpp"

// Soft bodies
#include "solvers/contact_solver.hpp"
#include "solvers/host_factor.hpp"
#include "solvers/nested_dissection.hpp"
#include "solvers/resident_cg.hpp"
#include "solvers/soft_solver.hpp"

// Topology optimisation
#include "solvers/design_optimizer.hpp"
#include "solvers/helmholtz_filter.hpp"
#include "solvers/mma.hpp"
#include "solvers/optimality_criteria.hpp"

// Hexahedra of high order
#include "solvers/element_stiffness.hpp"
#include "solvers/hierarchic_loads.hpp"
#include "solvers/hierarchic_model.hpp"
#include "solvers/hierarchic_operators.hpp"
#include "solvers/hierarchic_solver.hpp"
