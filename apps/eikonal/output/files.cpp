// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/output/files.hpp"

#include <ossatura/core/io/hdf5/vtkhdf.hpp>

#include <cmath>
#include <filesystem>
#include <limits>

namespace ossatura {

namespace {

/// The times of set `k`, with the mark where unreached.
template<class Number, class Real>
std::vector<Number> times_of(const EikonalModel& model, ConstSpan<Real> times, std::size_t k) {
  const std::size_t num_points = model.mesh.num_points();
  const Number mark = Number(model.unreached_mark());
  std::vector<Number> values(num_points);
  for (std::size_t v = 0; v < num_points; ++v) {
    const Real time = times.data[k * num_points + v];
    values[v] = time == std::numeric_limits<Real>::infinity() ? mark : Number(time);
  }
  return values;
}

/// 1 or 0 of each.
std::vector<std::uint8_t> conducting_cells(const std::vector<bool>& blocked) {
  std::vector<std::uint8_t> conducts(blocked.size());
  for (std::size_t e = 0; e < blocked.size(); ++e)
    conducts[e] = !blocked[e];
  return conducts;
}

/// All but times.
void write_mesh(VtkHdfWriter& file, const EikonalModel& model) {
  const TetraMesh& mesh = model.mesh;
  file.set_mesh(mesh.point, mesh.tetra, VtkCell::tetra);
  file.cell_data("tag", mesh.tag);
  const std::vector<bool>& blocked = model.velocities.blocked;
  if (!blocked.empty())
    file.cell_data("conducts", conducting_cells(blocked));
  if (!mesh.fibre.empty())
    file.cell_data("fibre", mesh.fibre, 3);
  if (!mesh.sheet.empty())
    file.cell_data("sheet", mesh.sheet, 3);
}

VtkHdfWriter begin_hdf(const EikonalFiles& files, const EikonalModel& model,
                       const DriverContext& context) {
  if (files.begun)
    return files.begun->take();
  VtkHdfWriter file(*files.hdf, context.options().compress);
  write_mesh(file, model);
  return file;
}

template<class Real>
void write_hdf(VtkHdfWriter file, const EikonalModel& model, ConstSpan<Real> times,
               const std::string& status, const DriverContext& context) {
  for (std::size_t k = 0; k < model.sets.size(); ++k) {
    const std::string& set = model.sets[k].name;
    Hdf5Field field = file.point_field<Real>("activation_time" + (set.empty() ? "" : "_" + set));
    if (std::isnan(model.unreached_mark()))
      field.take_nan_as_mark();
    field.append(times_of<Real>(model, times, k));
    field.set_unit("ms");
    field.set_attribute("unreached", unreached_text(model.unreached_mark()));
  }
  file.set_run(provenance_texts(context.provenance()));
  file.set_run("status", status);
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

std::string unreached_text(double mark) {
  return std::isnan(mark) ? "nan" : "-1";
}

EikonalFiles claim_eikonal_files(const EikonalCommandOptions& options, const EikonalModel& model,
                                 const std::string& stem, DriverContext& context) {
  EikonalFiles files;
  if (!options.no_hdf)
    files.hdf = context.claim_file(options.hdf, stem + ".hdf");
  const auto claim = [&](const std::string& asked, std::vector<std::string>& list) {
    if (!asked.empty())
      for (const auto& set : model.sets)
        list.push_back(context.claim_output(context.output_path(name_for(asked, set.name))));
  };
  claim(options.igb, files.igb);
  claim(options.dat, files.dat);
  return files;
}

void begin_eikonal_files(EikonalFiles& files, const EikonalModel& model,
                         const DriverContext& context) {
  if (files.hdf)
    files.begun =
        std::make_shared<BegunFile>(*files.hdf, context.options().compress,
                                    [&model](VtkHdfWriter& file) { write_mesh(file, model); });
}

template<class Real>
std::vector<std::string> write_eikonal(const EikonalFiles& asked, const EikonalModel& model,
                                       ConstSpan<Real> times, const std::string& status,
                                       DriverContext& context) {
  const TimedScope scope("ossatura::eikonal::write");
  std::vector<std::string> files;
  const auto write = [&](const std::string& path, const auto& how) {
    if (!context.try_output(path, how))
      return;
    files.push_back(path);
    log_info("wrote ", path);
  };
  if (asked.hdf)
    write(*asked.hdf,
          [&] { write_hdf(begin_hdf(asked, model, context), model, times, status, context); });
  for (std::size_t k = 0; k < model.sets.size(); ++k) {
    if (asked.igb.empty() && asked.dat.empty())
      break;
    const std::vector<float> values = times_of<float>(model, times, k);
    if (!asked.igb.empty())
      write(asked.igb[k], [&] { write_igb(asked.igb[k], values, "ms"); });
    if (!asked.dat.empty())
      write(asked.dat[k], [&] { write_dat(asked.dat[k], values); });
  }
  return files;
}

#define OSSATURA_INSTANTIATE(Real)                                                                 \
  template std::vector<std::string> write_eikonal(const EikonalFiles&, const EikonalModel&,        \
                                                  ConstSpan<Real>, const std::string&,             \
                                                  DriverContext&);
OSSATURA_INSTANTIATE(float)
OSSATURA_INSTANTIATE(double)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
