// SPDX-License-Identifier: Apache-2.0
// This umbrella header includes everything of solvers/ that programs use. bone/multigrid/cycle.hpp,
// with its templates, is apart.
#pragma once

// Iterations
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/lanczos.hpp>
#include <ossatura/solvers/krylov/polynomial_smoother.hpp>

// Voxel elasticity
#include <ossatura/solvers/bone/problem.hpp>
#include <ossatura/solvers/bone/solver.hpp>

// Elasticity on hexahedra
#include <ossatura/solvers/hexa/operators.hpp>
#include <ossatura/solvers/hexa/solver.hpp>

// Activation times
#include <ossatura/solvers/eikonal/solver.hpp>

// Soft bodies
#include <ossatura/solvers/krylov/resident_cg.hpp>
#include <ossatura/solvers/softbody/contact/solver.hpp>
#include <ossatura/solvers/softbody/factor/nested_dissection.hpp>
#include <ossatura/solvers/softbody/factor/on_host.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

// Topology optimisation
#include <ossatura/solvers/topopt/helmholtz_filter.hpp>
#include <ossatura/solvers/topopt/mma.hpp>
#include <ossatura/solvers/topopt/optimality_criteria.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

// Hexahedra of high order
#include <ossatura/solvers/pfem/loads.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/operators.hpp>
#include <ossatura/solvers/pfem/solver.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>
