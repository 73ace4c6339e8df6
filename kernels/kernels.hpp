// SPDX-License-Identifier: Apache-2.0
// Everything of kernels/ that programs use.
#pragma once

// Images
#include "kernels/component_selection.hpp"
#include "kernels/count_solid.hpp"
#include "kernels/material_law.hpp"
#include "kernels/perlin.hpp"
#include "kernels/shapes.hpp"
#include "kernels/voxelise.hpp"

// Coarse levels of cells
#include "kernels/cell_coarsen.hpp"
#include "kernels/cell_operator.hpp"
#include "kernels/cell_transfer.hpp"
#include "kernels/voxel_blocks.hpp"

// Voxel elasticity
#include "kernels/brick_operator.hpp"
#include "kernels/gather_operator.hpp"
#include "kernels/hash_operator.hpp"
#include "kernels/lame_field.hpp"
#include "kernels/lame_summary.hpp"
#include "kernels/mechanical_test.hpp"
#include "kernels/offset_operator.hpp"
#include "kernels/reactions.hpp"
#include "kernels/voxel_fields.hpp"
#include "kernels/voxel_grid.hpp"
#include "kernels/voxel_operator.hpp"

// Activation times
#include "kernels/eikonal_front.hpp"
#include "kernels/eikonal_patch.hpp"
#include "kernels/eikonal_scan.hpp"
#include "kernels/eikonal_spread.hpp"
#include "kernels/eikonal_times.hpp"
#include "kernels/tetra_metric.hpp"

// Soft bodies
#include "kernels/assemble_system.hpp"
#include "kernels/batched_factor.hpp"
#include "kernels/block_multiply.hpp"
#include "kernels/dissection_solve.hpp"
#include "kernels/element_triplets.hpp"
#include "kernels/form_inverse.hpp"
#include "kernels/inverse_bands.hpp"
#include "kernels/inverse_product.hpp"
#include "kernels/level_solve.hpp"
#include "kernels/make_coo_map.hpp"
#include "kernels/make_element_map.hpp"
#include "kernels/make_factor_pattern.hpp"
#include "kernels/node_rotations.hpp"
#include "kernels/resident_cg.hpp"
#include "kernels/soft_elements.hpp"
#include "kernels/supernode_solve.hpp"

// Hexahedra with moduli
#include "kernels/hexa_arrays.hpp"
#include "kernels/hexa_block_matrix.hpp"
#include "kernels/hexa_congruent.hpp"
#include "kernels/hexa_operator.hpp"
#include "kernels/hexa_recompute.hpp"
#include "kernels/hexa_stored_operators.hpp"

// Topology optimisation
#include "kernels/cone_filter.hpp"
#include "kernels/design_update.hpp"
#include "kernels/helmholtz_terms.hpp"
#include "kernels/hexa_energies.hpp"
#include "kernels/hexa_geometry.hpp"
#include "kernels/tanh_projection.hpp"

// Hexahedra of high order
#include "kernels/basis_tables.hpp"
#include "kernels/hexa_batch.hpp"
#include "kernels/hexa_classes.hpp"
#include "kernels/hierarchic_operator.hpp"
#include "kernels/sample_hexas.hpp"
#include "kernels/stiffness_method.hpp"
