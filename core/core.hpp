// SPDX-License-Identifier: Apache-2.0
// This umbrella header includes everything of core/ that programs use.
#pragma once

// Backends
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/half.hpp>
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/precision.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/processors.hpp>

// Many processes
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/core/comm/together.hpp>

// Meshes, images and files
#include <ossatura/core/io/hdf5/compression.hpp>
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/raw.hpp>
#include <ossatura/core/io/mesh/curved_hexa_file.hpp>
#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/io/mesh/hexa_file.hpp>
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/core/io/parosol/output.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/io/surface/write_stl.hpp>
#include <ossatura/core/io/text/nodal_list.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/element_surface.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/core/mesh/turned_top.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>
#include <ossatura/core/pfem/hexa_map.hpp>
#include <ossatura/core/pfem/hinges.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/core/pfem/modes.hpp>
#include <ossatura/core/pfem/numbering.hpp>

// Measuring
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/machine/memory.hpp>
