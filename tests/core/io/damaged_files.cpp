// SPDX-License-Identifier: Apache-2.0
// A corpus of damaged files, made here from small valid ones: cut at many lengths, every bit
// flipped (a stride of them for HDF5), stretches overwritten. Readers may refuse or, where the
// damage does not matter or makes another valid file, accept; they may do nothing else.
#include "tests/fuzz/reader_targets.hpp"
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/text/trial_read.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/element_samples.hpp"
#include "tests/core/io/mesh/hexa_samples.hpp"
#include "tests/core/io/mesh/second_order_samples.hpp"
#include "tests/core/io/mesh/solid_samples.hpp"
#include "tests/core/io/mesh/tetra_samples.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <csignal>
#include <new>

using namespace ossatura_test;

namespace {

// HDF5 keeps some damaged files open and complains of it when the program ends.
const bool quiet_exit = (ossatura::skip_hdf5_exit_cleanup(), true);

struct Tally {
  long accepted = 0;
  long refused = 0;
};

/// Runs `target` over the damaged variants of `whole`; one in `stride` of cuts and flips.
Tally run_damaged(ReaderTarget target, const std::string& name, const Bytes& whole,
                  std::size_t stride) {
  const TestDirectory directory;
  const std::string path = directory / name;
  Tally tally;
  const auto attempt = [&](const Bytes& bytes, const char* damage, std::size_t place) {
    // A new inode: HDF5 knows files by it, and keeps some damaged ones open.
    std::filesystem::remove(path);
    write_bytes(path, bytes);
    try {
      ++(target(path) ? tally.accepted : tally.refused);
    } catch (const std::exception& error) {
      FAIL(name << ", " << damage << " at " << place << ": " << error.what());
    }
  };
  attempt(whole, "nothing", 0);
  REQUIRE(quiet_exit);
  REQUIRE(tally.accepted == 1); // the damage starts from a valid file
  for (std::size_t length = 0; length < whole.size(); length += stride)
    attempt(whole.substr(0, length), "cut", length);
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += stride) {
    Bytes bytes = whole;
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
    attempt(bytes, "bit flipped", bit);
  }
  for (std::size_t begin = 0; begin < whole.size(); begin += stride)
    for (const char filler : {'\0', '\xff', '9'}) {
      Bytes bytes = whole;
      bytes.replace(begin, 8, 8, filler);
      attempt(bytes, "overwritten", begin);
    }
  return tally;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t sampled = 5; ///< every byte takes minutes there
#else
constexpr std::size_t sampled = 1;
#endif

void check_damaged(ReaderTarget target, const std::string& name, const Bytes& whole,
                   std::size_t stride = 1) {
  stride *= sampled;
  INFO(name);
  const Tally tally = run_damaged(target, name, whole, stride);
  CHECK(tally.refused > long(whole.size() / stride) / 2); // most cuts, at least, are noticed
}

} // namespace

TEST_CASE("damaged MetaImages are refused or read, nothing else", "[damaged]") {
  check_damaged(metaimage_target, "a.mha", sample_mha());
  check_damaged(metaimage_target, "b.mha", sample_compressed_mha());
}

TEST_CASE("damaged NIfTI images are refused or read, nothing else", "[damaged]") {
  check_damaged(nifti_target, "a.nii", sample_nii());
  check_damaged(nifti_target, "a.nii.gz", sample_nii_gz());
  check_damaged(nifti_target, "b.nii", sample_nifti_2());
}

TEST_CASE("damaged Scanco images are refused or read", "[damaged]") {
  check_damaged(scanco_target, "a.isq", sample_isq(), 5);
  check_damaged(scanco_target, "a.aim", sample_aim_020());
  check_damaged(scanco_target, "b.aim", sample_aim_bits(true));
  check_damaged(scanco_target, "c.aim", sample_aim_bytes(false));
}

TEST_CASE("damaged surfaces are refused or read, nothing else", "[damaged]") {
  check_damaged(surface_target, "a.off", sample_off());
  check_damaged(surface_target, "a.stl", sample_ascii_stl());
  check_damaged(surface_target, "b.stl", sample_binary_stl());
}

TEST_CASE("a damaged file never upsets the guess of its format", "[damaged]") {
  for (const Bytes& bytes : {sample_mha(), sample_nii(), sample_nii_gz(), sample_off()})
    run_damaged(format_target, "file.dat", bytes, 3);
}

TEST_CASE("damaged raw images are refused or read, nothing else", "[damaged]") {
  check_damaged(raw_target, "a.raw", "head" + numbers(ramp<float>(12), true));
}

TEST_CASE("damaged openCARP meshes are refused or read, nothing else", "[damaged]") {
  check_damaged(opencarp_target, "text", packed(sample_opencarp()));
  check_damaged(opencarp_target, "padded", packed(sample_opencarp_binary(false)), 31);
  check_damaged(opencarp_target, "binary", packed(sample_opencarp_binary(true, false)), 3);
}

TEST_CASE("damaged Gmsh meshes are refused or read, nothing else", "[damaged]") {
  check_damaged(gmsh_target, "2.msh", sample_gmsh_2());
  check_damaged(gmsh_target, "2b.msh", sample_gmsh_2_binary(false));
  check_damaged(gmsh_target, "4.msh", sample_gmsh_4());
  check_damaged(gmsh_target, "4b.msh", sample_gmsh_4_binary(true));
}

TEST_CASE("damaged VTK legacy files are refused or read, nothing else", "[damaged]") {
  check_damaged(vtk_legacy_target, "3.vtk", sample_vtk());
  check_damaged(vtk_legacy_target, "2b.vtk", sample_vtk_binary());
  check_damaged(vtk_legacy_target, "5b.vtk", sample_vtk_5(true));
}

TEST_CASE("damaged VTU files are refused or read, nothing else", "[damaged]") {
  for (int format = VtuKind::ascii; format <= VtuKind::appended_raw; ++format)
    for (const bool zlib : {false, true}) {
      VtuKind kind;
      kind.format = decltype(kind.format)(format);
      kind.big = kind.wide = format % 2 != 0;
      kind.zlib = zlib;
      check_damaged(vtu_target, "a.vtu", sample_vtu(kind), 7);
    }
}

TEST_CASE("damaged meshes of soft bodies are refused or read, nothing else", "[damaged]") {
  check_damaged(elements_target, "a.msh", sample_gmsh_2_hexa(), 3);
  check_damaged(elements_target, "b.msh", sample_gmsh_4_triangles(), 3);
  check_damaged(elements_target, "c.msh", sample_gmsh_2_binary(true), 3);
  check_damaged(elements_target, "a.vtk", sample_vtk_hexa(), 3);
  VtuKind kind;
  kind.format = VtuKind::appended_raw;
  check_damaged(elements_target, "a.vtu", sample_vtu_hexa(kind), 11);
}

TEST_CASE("damaged models of hexahedra are refused or read, nothing else", "[damaged]") {
  check_damaged(models_target, "a.inp", sample_inp(), 5);
  check_damaged(models_target, "b.inp", sample_cae_inp(), 11);
  check_damaged(models_target, "c.inp", sample_moved_inp(), 11);
  check_damaged(models_target, "d.inp", sample_coupled_inp(), 11);
  check_damaged(models_target, "tetra.inp", sample_tetra_inp(), 17);
  check_damaged(models_target, "mixed.inp", sample_mixed_inp(), 23);
  check_damaged(models_target, "a.cdb", sample_cdb(), 11);
  check_damaged(models_target, "2.msh", sample_gmsh_2_groups(), 7);
  check_damaged(models_target, "4.msh", sample_gmsh_4_groups(), 7);
  check_damaged(models_target, "20.msh", SecondOrderSample{2, 20}.text(), 13);
  check_damaged(models_target, "27.msh", SecondOrderSample{4, 27}.text(), 13);
}

TEST_CASE("damaged vertex lists are refused or read, nothing else", "[damaged]") {
  run_damaged(vtx_target, "a.vtx", sample_vtx(), 1);
}

TEST_CASE("damaged values of elements are refused or read, nothing else", "[damaged]") {
  run_damaged(cell_values_target, "v.dat", "0.6 0.3 0.2\nnan 0 1e-3\n", 1);
}

TEST_CASE("damaged nodal lists are refused or read, nothing else", "[damaged]") {
  run_damaged(nodal_list_target, "f.csv", "# x, y, z\n0, 0, 2, z, -1\n1 1 2 2 -0.5 # one\n", 1);
}

TEST_CASE("damaged ParOSol files are refused or read, nothing else", "[damaged]") {
  ParosolFile file;
  file.loaded = {1, 1, 1, 2};
  file.loaded_value = {3};
  file.poisson_image.assign(24, 0.25f);
  for (const unsigned gzip : {0u, 4u}) {
    const TestDirectory directory;
    file.gzip = gzip;
    write_parosol(directory / "bone.h5", file);
    const Bytes whole = read_bytes_of(directory / "bone.h5");
    check_damaged(parosol_target, gzip > 0 ? "gzip.h5" : "plain.h5", whole, 307);
  }
}

TEST_CASE("a file that crashes the HDF5 library is refused", "[damaged]") {
  // Found by the fuzz target: the address of the local heap of the root group is damaged.
  const std::string path = (std::filesystem::path(OSSATURA_TEST_DATA_DIR).parent_path() /
                            "fuzz/corpus/parosol/local_heap.h5")
                               .string();
  ossatura::ParosolOptions options;
  options.trial = true;
  CHECK_SAYS(error_of([&] { ossatura::read_parosol(path, options); }), "local_heap.h5", "damaged");
}

TEST_CASE("a trial read reports crashes and hangs and lets everything else pass", "[damaged]") {
  const auto trial = [](const std::function<void()>& read) {
    return error_of([&] { ossatura::require_survivable_read("bone.h5", read, 1); });
  };
  CHECK(trial([] {}) == "no error");
  CHECK(trial([] { throw std::runtime_error("an answer"); }) == "no error");
  CHECK_SAYS(trial([] { std::raise(SIGSEGV); }), "bone.h5", "damaged", "crashes");
  CHECK_SAYS(trial([] {
               for (;;)
                 ::pause();
             }),
             "bone.h5", "within 1 s");
  CHECK_SAYS(error_of<ossatura::BackendError>(
                 [] { ossatura::require_survivable_read("bone.h5", [] { std::raise(SIGKILL); }); }),
             "bone.h5", "memory");
  // Where memory runs out, of which a program may end: no fault of the file, and the caller runs
  // out, too.
  const std::new_handler of_program = std::set_new_handler([] { ::_exit(4); });
  const std::string without_memory = trial([] {
    if (const std::new_handler handler = std::get_new_handler())
      handler();
    throw std::bad_alloc();
  });
  std::set_new_handler(of_program);
  CHECK(without_memory == "no error");
}
