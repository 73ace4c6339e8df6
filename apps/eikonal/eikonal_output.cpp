// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/eikonal_output.hpp"

#include "core/io/vtkhdf.hpp"

#include <cmath>
#include <filesystem>

namespace femura {

namespace {

/// The times of set `k`, -1 where unreached.
template<class Number, class Real>
std::vector<Number> times_of(ConstSpan<Real> times, std::size_t num_points, std::size_t k) {
  std::vector<Number> values(num_points);
  for (std::size_t v = 0; v < num_points; ++v) {
    const Real time = times.data[k * num_points + v];
    values[v] = std::isfinite(time) ? Number(time) : Number(-1);
  }
  return values;
}

template<class Real>
void write_hdf(const std::string& path, const EikonalModel& model, ConstSpan<Real> times,
               const DriverContext& context) {
  const TetraMesh& mesh = model.mesh;
  VtkHdfWriter file(path);
  file.set_mesh(mesh.point, mesh.tetra, VtkCell::tetra);
  for (std::size_t k = 0; k < model.sets.size(); ++k) {
    const std::string& set = model.sets[k].name;
    file.point_data("activation_time" + (set.empty() ? "" : "_" + set),
                    times_of<Real>(times, mesh.num_points(), k), 1, "ms");
  }
  file.cell_data("tag", mesh.tag);
  if (!mesh.fibre.empty())
    file.cell_data("fibre", mesh.fibre, 3);
  if (!mesh.sheet.empty())
    file.cell_data("sheet", mesh.sheet, 3);
  file.set_run(provenance_texts(context.provenance()));
  file.commit();
}

/// act.igb, or act_SET.igb for a set that has a name.
std::string name_for(const std::string& path, const std::string& set) {
  if (set.empty())
    return path;
  std::filesystem::path name(path);
  return name.replace_filename(name.stem().string() + "_" + set + name.extension().string())
      .string();
}

} // namespace

template<class Real>
std::vector<std::string> write_eikonal(const EikonalCommandOptions& options,
                                       const EikonalModel& model, const std::string& stem,
                                       ConstSpan<Real> times, const DriverContext& context) {
  const TimedScope scope("femura::eikonal::write");
  std::vector<std::string> files;
  const auto wrote = [&files](const std::string& path) {
    files.push_back(path);
    log_info("wrote ", path);
  };
  if (!options.no_hdf)
    if (const auto path = context.output_file(options.hdf, stem + ".hdf")) {
      write_hdf(*path, model, times, context);
      wrote(*path);
    }
  if (options.igb.empty() && options.dat.empty())
    return files;
  for (std::size_t k = 0; k < model.sets.size(); ++k) {
    const std::vector<float> values = times_of<float>(times, model.mesh.num_points(), k);
    if (!options.igb.empty()) {
      const std::string path = context.output_path(name_for(options.igb, model.sets[k].name));
      write_igb(path, values, "ms");
      wrote(path);
    }
    if (!options.dat.empty()) {
      const std::string path = context.output_path(name_for(options.dat, model.sets[k].name));
      write_dat(path, values);
      wrote(path);
    }
  }
  return files;
}

template std::vector<std::string> write_eikonal(const EikonalCommandOptions&, const EikonalModel&,
                                                const std::string&, ConstSpan<float>,
                                                const DriverContext&);
template std::vector<std::string> write_eikonal(const EikonalCommandOptions&, const EikonalModel&,
                                                const std::string&, ConstSpan<double>,
                                                const DriverContext&);

} // namespace femura
