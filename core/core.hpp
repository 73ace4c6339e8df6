// SPDX-License-Identifier: Apache-2.0
// Everything of core/ that programs use.
#pragma once

// Backends
#include "core/backend.hpp"
#include "core/half.hpp"
#include "core/kokkos_runtime.hpp"
#include "core/processors.hpp"
#include "core/require.hpp"
#include "core/vector.hpp"

// Meshes, images and files
#include "core/element_generators.hpp"
#include "core/element_mesh.hpp"
#include "core/element_surface.hpp"
#include "core/free_motion.hpp"
#include "core/hexa_changes.hpp"
#include "core/hexa_entities.hpp"
#include "core/hexa_map.hpp"
#include "core/hexa_model.hpp"
#include "core/hierarchic_meshes.hpp"
#include "core/hierarchic_modes.hpp"
#include "core/hierarchic_numbering.hpp"
#include "core/io/curved_hexa_file.hpp"
#include "core/io/element_file.hpp"
#include "core/io/hexa_file.hpp"
#include "core/io/image_format.hpp"
#include "core/io/metaimage.hpp"
#include "core/io/nifti.hpp"
#include "core/io/nodal_list.hpp"
#include "core/io/parosol.hpp"
#include "core/io/parosol_output.hpp"
#include "core/io/raw_image.hpp"
#include "core/io/surface.hpp"
#include "core/io/surface_writer.hpp"
#include "core/io/tetra_file.hpp"
#include "core/io/vtkhdf.hpp"
#include "core/iso_surface.hpp"
#include "core/tetra_generators.hpp"
#include "core/tetra_mesh.hpp"
#include "core/voxel_image.hpp"

// Measuring
#include "core/log.hpp"
#include "core/memory.hpp"
#include "core/timer.hpp"
#include "core/version.hpp"
