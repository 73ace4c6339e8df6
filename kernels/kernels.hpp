// SPDX-License-Identifier: Apache-2.0
// This umbrella header includes everything of kernels/ that programs use.
#pragma once

// Images
#include <ossatura/kernels/image/component_selection.hpp>
#include <ossatura/kernels/image/count_solid.hpp>
#include <ossatura/kernels/image/label_laws.hpp>
#include <ossatura/kernels/image/material_law.hpp>
#include <ossatura/kernels/image/perlin.hpp>
#include <ossatura/kernels/image/shapes.hpp>
#include <ossatura/kernels/image/voxel_ranks.hpp>
#include <ossatura/kernels/image/voxelise.hpp>

// Coarse levels of cells
#include <ossatura/kernels/bone/cells/coarsen.hpp>
#include <ossatura/kernels/bone/cells/operator.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>
#include <ossatura/kernels/bone/voxel_blocks.hpp>

// Voxel elasticity
#include <ossatura/kernels/bone/damage/voxels.hpp>
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/bone/loads/reactions.hpp>
#include <ossatura/kernels/bone/operator.hpp>
#include <ossatura/kernels/bone/operator_list.hpp>
#include <ossatura/kernels/bone/plasticity/voxels.hpp>
#include <ossatura/kernels/image/grid.hpp>

// Activation times
#include <ossatura/kernels/eikonal/boundary_times.hpp>
#include <ossatura/kernels/eikonal/front.hpp>
#include <ossatura/kernels/eikonal/published/patch.hpp>
#include <ossatura/kernels/eikonal/published/scan.hpp>
#include <ossatura/kernels/eikonal/resident_front.hpp>
#include <ossatura/kernels/eikonal/set_front.hpp>
#include <ossatura/kernels/eikonal/spread.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>
#include <ossatura/kernels/eikonal/times.hpp>

// Soft bodies
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/factor/batched.hpp>
#include <ossatura/kernels/factor/form_inverse.hpp>
#include <ossatura/kernels/factor/inverse_bands.hpp>
#include <ossatura/kernels/factor/inverse_product.hpp>
#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/kernels/factor/published/dissection_solve.hpp>
#include <ossatura/kernels/factor/published/level_solve.hpp>
#include <ossatura/kernels/factor/supernode_solve.hpp>
#include <ossatura/kernels/krylov/resident_cg.hpp>
#include <ossatura/kernels/krylov/resident_cg_batch.hpp>
#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>
#include <ossatura/kernels/softbody/assembly/published/assemble_system.hpp>
#include <ossatura/kernels/softbody/assembly/published/element_triplets.hpp>
#include <ossatura/kernels/softbody/assembly/published/make_coo_map.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>
#include <ossatura/kernels/softbody/elements/node_rotations.hpp>

// Hexahedra with moduli
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/kernels/hexa/congruent.hpp>
#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/hexa/published/stored_operators.hpp>
#include <ossatura/kernels/hexa/recompute.hpp>

// Solid elements of other kinds
#include <ossatura/kernels/solids/arrays.hpp>
#include <ossatura/kernels/solids/fields.hpp>
#include <ossatura/kernels/solids/stiffness.hpp>

// Topology optimisation
#include <ossatura/kernels/hexa/geometry.hpp>
#include <ossatura/kernels/topopt/cone_filter.hpp>
#include <ossatura/kernels/topopt/design_variables.hpp>
#include <ossatura/kernels/topopt/helmholtz_terms.hpp>
#include <ossatura/kernels/topopt/hexa_energies.hpp>
#include <ossatura/kernels/topopt/tanh_projection.hpp>

// Hexahedra of high order
#include <ossatura/kernels/pfem/basis_tables.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/hexa_classes.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/sample_hexas.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>
