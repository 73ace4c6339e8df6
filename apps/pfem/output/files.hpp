// SPDX-License-Identifier: Apache-2.0
// These functions evaluate solutions on grids in the elements: their largest values, and a file for
// ParaView.
#pragma once

#include "apps/pfem/input/model.hpp"
#include "apps/pfem/output/results.hpp"
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/sample_hexas.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// Facts of a run, for the file.
using PfemFacts = std::vector<std::pair<std::string, std::string>>;

/// Some elements of one order on their grids, on the host.
struct PfemBlock {
  int points = 0; ///< along each edge of an element
  int order = 0;
  std::vector<std::int32_t> elem;   ///< numbers in the mesh
  std::vector<double> x, jacobian;  ///< m, [n, 3], [n, 9]
  std::vector<double> displacement; ///< m, [n, 3]
  std::vector<double> stress;       ///< Pa, [n, 6]: xx yy zz yz zx xy
  std::vector<double> energy;       ///< J / m^3, [n]
};

/// Points that are sampled together, if an element has no more: enough chunks of a file for the
/// threads that compress them. Each takes `sample_bytes` of the backend's memory.
std::int64_t samples_at_a_time();
inline constexpr double sample_bytes = 8 * (9 + 3 + 6 + 1);

/// Points along each edge of an element of that order.
int grid_points(int samples, int order);

/// A VTKHDF file with a grid of linear hexahedra in each element: `displacement`, `stress`,
/// `von_mises`, `strain_energy_density` at points; `element`, `order` of cells. Points of different
/// elements are apart, because stresses jump there. Throws InputError where it cannot be written.
class PfemFile {
public:
  PfemFile(const std::string& path, const PfemModel& model, int samples,
           Hdf5Compression compression = Hdf5Compression::fast);
  ~PfemFile();

  /// Blocks make up all elements, each once. Where one cannot be written, commit() says so.
  void add(const PfemBlock& block);
  void commit(const PfemFacts& facts);

private:
  struct Fields;
  void append(const PfemBlock& block);

  std::string failure_; ///< empty: none
  VtkHdfWriter file_;
  std::unique_ptr<Fields> fields_;
  std::int64_t num_points_ = 0; ///< so far
};

/// Adds the largest values of a block, and errors against a known solution.
void add_peaks(const PfemModel& model, const PfemBlock& block, PfemResults& results);

/// Samples `u` [num_modes, 3] in all elements, a bounded number of them at a time; `file` may be
/// null. Fences.
template<class Exec>
void sample_all(const Exec& exec, const PfemModel& model, const HierarchicModel<Exec>& hexas,
                const Array<double, Exec>& u, int samples, PfemFile* file, PfemResults& results);

} // namespace ossatura
