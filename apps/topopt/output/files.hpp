// SPDX-License-Identifier: Apache-2.0
// These functions write designs for ParaView and for CAD.
#pragma once

#include "apps/driver/output/files/frame_list.hpp"
#include "apps/topopt/input/model.hpp"
#include "apps/topopt/output/results.hpp"
#include <ossatura/core/io/surface/reader.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// A design on the host.
struct DesignFields {
  std::vector<double> density;                   ///< physical, [num_elem]
  std::vector<double> energy;                    ///< J / m^3, [num_elem]; empty: not known
  std::vector<std::vector<double>> displacement; ///< m, [num_nodes, 3] of each case, or none
  std::vector<std::vector<double>>
      weight{},                 ///< N, likewise: of gravity and rotation; of some cases
      thermal_force{};          ///< N, likewise: of temperature
  std::vector<double> stress{}; ///< Pa, [num_elem] relaxed von Mises stress, where it is limited
  std::vector<std::vector<double>> mode{}; ///< [num_nodes, 3] of each natural frequency found
  std::vector<double> variable{}; ///< [num_elem] that densities are made of; empty: the same
};

/// Facts of a run, for every file.
using RunFacts = std::vector<std::pair<std::string, std::string>>;

/// One VTKHDF file: `density`, `variable`, `role` where elements are passive,
/// `strain_energy_density`, `relaxed_von_mises`, `mode_1`, ..., and `displacement` (of several
/// cases: displacement_NAME). Throws InputError where it cannot be written. `kept` is of the files
/// of this model, null: of none.
void write_design(const std::string& path, const TopoptModel& model, const DesignFields& fields,
                  int step, const RunFacts& facts,
                  Hdf5Compression compression = Hdf5Compression::fast, VtkHdfKept* kept = nullptr);

/// What the surface of a design is made by.
struct SurfaceChoices {
  double level = 0.5;
  bool keep_loose = false;
  int smooth = 0;     ///< passes of smooth_surface, after fit_surface; 0: neither
  bool whole = false; ///< with its images in mirrors
};

/// The surface of {density > level}, from means at nodes.
struct DesignSurface {
  TriangleSurface surface;   ///< in m; without loose parts unless these are kept
  TriangleSurface modelled;  ///< what of it is modelled, closed in the mirrors; empty: all
  int num_copies = 1;        ///< of the model, images among them, that it is made of
  std::int64_t num_held = 0; ///< vertices that smoothing left where they were, lest triangles cross
  std::int64_t num_fitted = 0; ///< vertices on the surface that the body was filled from
  PartsSummary parts;          ///< of the model

  const TriangleSurface& of_model() const { return num_copies > 1 ? modelled : surface; }
};
/// Warns, and is of the model alone, where the images cannot be joined.
DesignSurface make_design_surface(const TopoptModel& model, const std::vector<double>& density,
                                  const SurfaceChoices& choices);

/// Writes binary STL, in units of the mesh file. Warns where it is empty; then nothing is written
/// and nothing returned.
std::optional<SurfaceSummary> write_design_surface(const std::string& path,
                                                   const TopoptModel& model,
                                                   const DesignSurface& design, double level);

/// The same as 3MF, in mm.
std::optional<SurfaceSummary> write_design_3mf(const std::string& path, const DesignSurface& design,
                                               double level);

} // namespace ossatura
