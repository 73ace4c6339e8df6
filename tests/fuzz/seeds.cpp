// SPDX-License-Identifier: Apache-2.0
// The fuzz targets without libFuzzer:
//   fuzz_seeds --seeds DIR             writes the seeds of each target NAME to DIR/NAME
//   fuzz_seeds NAME FILE_OR_FOLDER...  runs target NAME on each file
#include "tests/core/io/mesh/element_samples.hpp"
#include "tests/core/io/mesh/hexa_samples.hpp"
#include "tests/core/io/mesh/second_order_samples.hpp"
#include "tests/core/io/mesh/solid_samples.hpp"
#include "tests/core/io/mesh/tetra_samples.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/fuzz/reader_targets.hpp"
#include "tests/fuzz/run_on_bytes.hpp"
#include <ossatura/core/io/hdf5/file.hpp>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace ossatura_test;

template<class Put>
void write_tetra_seeds(const Put& put) {
  put("opencarp", "text", packed(sample_opencarp()));
  put("opencarp", "little", packed(sample_opencarp_binary(false)));
  put("opencarp", "big", packed(sample_opencarp_binary(true, false)));
  put("gmsh", "2.msh", sample_gmsh_2());
  put("gmsh", "2_binary.msh", sample_gmsh_2_binary(false));
  put("gmsh", "4.msh", sample_gmsh_4());
  put("gmsh", "4_binary.msh", sample_gmsh_4_binary(true));
  put("vtk_legacy", "3.vtk", sample_vtk());
  put("vtk_legacy", "2_binary.vtk", sample_vtk_binary());
  put("vtk_legacy", "texts.vtk", sample_vtk_texts());
  put("vtk_legacy", "5.vtk", sample_vtk_5(false));
  put("vtk_legacy", "5_binary.vtk", sample_vtk_5(true));
  for (int format = VtuKind::ascii; format <= VtuKind::appended_raw; ++format)
    for (const bool zlib : {false, true}) {
      VtuKind kind;
      kind.format = decltype(kind.format)(format);
      kind.big = kind.wide = format % 2 != 0;
      kind.zlib = zlib;
      put("vtu", (std::to_string(format) + (zlib ? "_zlib.vtu" : ".vtu")).c_str(),
          sample_vtu(kind));
    }
  put("vtx", "apex.vtx", sample_vtx());
}

template<class Put>
void write_element_seeds(const Put& put) {
  put("elements", "hexa.msh", sample_gmsh_2_hexa());
  put("elements", "triangles.msh", sample_gmsh_4_triangles());
  put("elements", "tetra.msh", sample_gmsh_4_binary(false));
  put("elements", "hexa.vtk", sample_vtk_hexa());
  put("elements", "tetra.vtk", sample_vtk_binary());
  put("elements", "hexa.vtu", sample_vtu_hexa({}));
  put("elements", "tetra.vtu", sample_vtu({}));
  put("models", "ccx.inp", sample_inp());
  put("models", "cae.inp", sample_cae_inp());
  put("models", "moved.inp", sample_moved_inp());
  put("models", "coupled.inp", sample_coupled_inp());
  put("models", "tetra.inp", sample_tetra_inp());
  put("models", "mixed.inp", sample_mixed_inp());
  put("models", "a.cdb", sample_cdb());
  put("models", "2.msh", sample_gmsh_2_groups());
  put("models", "4.msh", sample_gmsh_4_groups());
  put("models", "20.msh", SecondOrderSample{2, 20}.text());
  put("models", "27.msh", SecondOrderSample{4, 27}.text());
}

void write_seeds(const fs::path& root) {
  const auto put = [&](const char* target, const char* name, const Bytes& bytes) {
    fs::create_directories(root / target);
    write_bytes((root / target / name).string(), bytes);
  };
  put("metaimage", "plain.mha", sample_mha());
  put("metaimage", "zlib.mha", sample_compressed_mha());
  put("nifti", "one.nii", sample_nii());
  put("nifti", "one.nii.gz", sample_nii_gz());
  put("nifti", "two.nii", sample_nifti_2());
  put("nrrd", "plain.nrrd", sample_nrrd());
  put("nrrd", "gzip.nrrd", sample_gzip_nrrd());
  put("scanco", "a.isq", sample_isq());
  put("scanco", "short.aim", sample_aim_020());
  put("scanco", "bits.aim", sample_aim_bits(false));
  put("scanco", "bytes.aim", sample_aim_bytes(true));
  put("surface", "tetrahedron.off", sample_off());
  put("surface", "text.stl", sample_ascii_stl());
  put("surface", "binary.stl", sample_binary_stl());
  put("nodal_list", "f.csv", "# x, y, z, component, value\n0, 0, 2, z, -1\n1 1 2 2 -0.5 # one\n");
  put("cell_values", "v.dat", "0.6 0.3 0.2\nnan 0 1e-3\n");
  put("raw", "floats.raw", "head" + numbers(ramp<float>(12), true));
  for (const Bytes& bytes : {sample_mha(), sample_nii(), sample_nii_gz(), sample_off()})
    put("format", ("seed" + std::to_string(bytes.size())).c_str(), bytes);
  write_tetra_seeds(put);
  write_element_seeds(put);
  fs::create_directories(root / "parosol");
  ParosolFile file;
  write_parosol((root / "parosol" / "plain.h5").string(), file);
  file.gzip = 4;
  file.scalar_is_list = true;
  file.loaded = {1, 1, 1, 2};
  file.loaded_value = {3};
  file.poisson_image.assign(24, 0.25f);
  write_parosol((root / "parosol" / "all.h5").string(), file);
  fs::create_directories(root / "itk");
  ItkFile itk;
  write_itk((root / "itk" / "gzip.h5").string(), itk);
  itk.gzip = 0;
  itk.latest = false;
  write_itk((root / "itk" / "plain.h5").string(), itk);
}

using Target = bool (*)(const std::string&);

const std::map<std::string, Target> targets = {{"parosol", parosol_target},
                                               {"itk", itk_target},
                                               {"metaimage", metaimage_target},
                                               {"nifti", nifti_target},
                                               {"nrrd", nrrd_target},
                                               {"scanco", scanco_target},
                                               {"surface", surface_target},
                                               {"raw", raw_target},
                                               {"format", format_target},
                                               {"opencarp", opencarp_target},
                                               {"gmsh", gmsh_target},
                                               {"vtk_legacy", vtk_legacy_target},
                                               {"vtu", vtu_target},
                                               {"vtx", vtx_target},
                                               {"elements", elements_target},
                                               {"models", models_target},
                                               {"nodal_list", nodal_list_target},
                                               {"cell_values", cell_values_target}};

long run(Target target, const fs::path& path) {
  if (fs::is_directory(path)) {
    long count = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file())
        count += run(target, entry.path());
    return count;
  }
  const Bytes bytes = read_bytes_of(path.string());
  run_on_bytes(target, bytes.data(), bytes.size());
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  ossatura::skip_hdf5_exit_cleanup();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--seeds") {
    write_seeds(arguments[1]);
    return 0;
  }
  const auto target = targets.find(arguments.empty() ? "" : arguments[0]);
  if (target == targets.end()) {
    std::fprintf(stderr, "usage: fuzz_seeds --seeds DIR, or fuzz_seeds NAME FILE_OR_FOLDER...\n");
    return 2;
  }
  long count = 0;
  for (std::size_t k = 1; k < arguments.size(); ++k)
    count += run(target->second, arguments[k]);
  std::printf("%ld files\n", count);
  return count > 0 ? 0 : 2;
}
