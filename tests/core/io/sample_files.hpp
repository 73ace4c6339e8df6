// SPDX-License-Identifier: Apache-2.0
// Small valid files of every format that is read, made by hand: for tests of the readers, the
// damaged-file corpus and the seeds of the fuzz targets. Shares nothing with the readers.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <hdf5.h>
#include <zlib.h>

namespace ossatura_test {

using Bytes = std::string;

inline void write_bytes(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  if (!file)
    throw std::runtime_error("the test cannot write " + path);
}

inline Bytes read_bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

/// The bytes of `value`, most significant first if `big`.
template<class T>
Bytes number(T value, bool big = false) {
  Bytes bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T)); // the tests run on little-endian machines
  return big ? Bytes(bytes.rbegin(), bytes.rend()) : bytes;
}

template<class T>
Bytes numbers(const std::vector<T>& values, bool big = false) {
  Bytes bytes;
  for (const T& value : values)
    bytes += number(value, big);
  return bytes;
}

/// Compressed with a zlib header, or a gzip one.
inline Bytes deflated(const Bytes& bytes, bool gzip) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, gzip ? 15 + 16 : 15, 8, Z_DEFAULT_STRATEGY);
  Bytes result(deflateBound(&stream, uLong(bytes.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = uInt(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

// ---- MetaImage

inline Bytes metaimage_header(const std::string& type, const std::string& rest = "",
                              const std::string& data = "LOCAL") {
  return "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n" +
         rest +
         "Offset = 1 2 3\nElementSpacing = 0.5 0.5 0.5\nDimSize = 4 3 2\nElementType = " + type +
         "\nElementDataFile = " + data + "\n";
}

/// 4 x 3 x 2 voxels 0, 1, 2, ... of type T.
template<class T>
std::vector<T> ramp(std::size_t count = 24) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = T(i);
  return values;
}

inline Bytes sample_mha() {
  return metaimage_header("MET_SHORT") + numbers(ramp<std::int16_t>());
}

inline Bytes sample_compressed_mha() {
  return metaimage_header("MET_FLOAT", "CompressedData = True\n") +
         deflated(numbers(ramp<float>()), false);
}

// ---- NRRD

/// Of 4 x 3 x 2 voxels of 0.5 mm, the first of which has its centre at (1, 2, 3).
inline Bytes nrrd_header(const std::string& type, const std::string& rest = "",
                         const std::string& encoding = "raw") {
  return "NRRD0005\n# by a test\nsizes: 4 3 2\ntype: " + type +
         "\ndimension: 3\nspace: left-posterior-superior\n"
         "space directions: (0.5,0,0) (0,0.5,0) (0,0,0.5)\nspace origin: (1,2,3)\n"
         "space units: \"mm\" \"mm\" \"mm\"\nkinds: domain domain domain\nendian: little\n"
         "key:=value of another program\nencoding: " +
         encoding + "\n" + rest + "\n";
}

inline Bytes sample_nrrd() {
  return nrrd_header("short") + numbers(ramp<std::int16_t>());
}

inline Bytes sample_gzip_nrrd() {
  return nrrd_header("float", "", "gzip") + deflated(numbers(ramp<float>()), true);
}

// ---- Scanco

/// As a VAX has a float (F) or a double (D): words of 16 bits in turn, and an exponent two higher.
template<class T>
Bytes vax(T value) {
  const Bytes big = number(T(4) * value, true);
  Bytes bytes;
  for (std::size_t word = 0; word < big.size(); word += 2)
    bytes += {big[word + 1], big[word]};
  return bytes;
}

inline Bytes padded(Bytes bytes, std::size_t size, char with = '\0') {
  bytes.resize(size, with);
  return bytes;
}

/// 4 x 3 x 2 voxels of 82 um; with a calibration to 1600 v / 8192 - 400 mg HA/ccm, if asked for.
inline Bytes scanco_isq(const Bytes& voxels, bool calibrated) {
  Bytes head =
      "CTDATA-HEADER_V1" + numbers<std::int32_t>({3, 48, 1, 7, 9, 0, 0, 4, 3, 2, 328, 246, 164});
  head = padded(head, 88) + number<std::int32_t>(8192);
  head = padded(head, 508) + number<std::int32_t>(calibrated ? 5 : 0);
  if (calibrated) { // a directory, an other part of a block, the calibration of two, a block more
    Bytes directory =
        padded(Bytes(8, '\0') + padded("Other", 16, ' ') + number<std::int32_t>(1), 128);
    directory += Bytes(8, '\0') + padded("Calibration", 16, ' ') + number<std::int32_t>(2);
    head += padded(directory, 512) + Bytes(512, 'x');
    Bytes calibration =
        padded(Bytes(), 648) + padded("mg HA/ccm", 16, ' ') + vax(1600.0) + vax(-400.0);
    head += padded(calibration, 1024) + Bytes(512, '\0');
  }
  return head + voxels;
}

inline const char* scanco_log =
    "! Processing Log\nMu_Scaling                   8192\n"
    "Density: unit                  mg HA/ccm\nDensity: slope         1.6e+03\n"
    "Density: intercept    -4.000000e+02\r\n";

/// 4 x 3 x 2 voxels of 82 um at (1, -2, 3), of version 020 or 030; something follows them.
inline Bytes scanco_aim(std::int32_t kind, const Bytes& voxels, bool is_030,
                        const Bytes& log = scanco_log) {
  const auto count = [&](std::int64_t value) {
    return is_030 ? number(value) : number(std::int32_t(value));
  };
  Bytes triples;
  for (const std::int64_t value : {1, -2, 3, 4, 3, 2})
    triples += count(value);
  triples.resize(21 * count(0).size());
  Bytes description;
  if (is_030) {
    description = numbers<std::int32_t>({30, 0, 0, kind}) + triples +
                  numbers<std::int64_t>({82000, 82000, 82000});
    description.resize(224);
  } else {
    description = numbers<std::int32_t>({16, 0, 0, 0, 0, kind}) + triples + vax(0.082f) +
                  vax(0.082f) + vax(0.082f);
    description.resize(140);
  }
  Bytes lengths;
  for (const std::size_t bytes :
       {5 * count(0).size(), description.size(), log.size(), voxels.size(), std::size_t(4)})
    lengths += count(std::int64_t(bytes));
  return (is_030 ? Bytes("AIMDATA_V030   ") + '\0' : Bytes()) + lengths + description + log +
         voxels + "more";
}

/// Runs, behind their length.
inline Bytes scanco_runs(const Bytes& runs, bool is_030) {
  return (is_030 ? number(std::int64_t(runs.size() + 8)) : number(std::int32_t(runs.size() + 4))) +
         runs;
}

inline Bytes sample_isq() {
  return scanco_isq(numbers(ramp<std::int16_t>()), true);
}
inline Bytes sample_aim_020() {
  return scanco_aim(0x00020002, numbers(ramp<std::int16_t>()), false);
}
/// 5 voxels of 0, 13 of 127, 6 of 0.
inline Bytes sample_aim_bits(bool is_030) {
  return scanco_aim(0x00150001, scanco_runs(Bytes("\0\x7f\x05\x0d\x06", 5), is_030), is_030);
}
/// 4 voxels of -3, 20 of 9.
inline Bytes sample_aim_bytes(bool is_030) {
  return scanco_aim(0x00080002, scanco_runs("\x04\xfd\x14\x09", is_030), is_030);
}

// ---- NIfTI

struct NiftiFields {
  bool big = false;
  std::vector<std::int16_t> dim{3, 4, 3, 2, 1, 1, 1, 1};
  std::int16_t datatype = 4; // int16
  std::vector<float> pixdim{1, 0.5f, 0.5f, 0.5f, 0, 0, 0, 0};
  float vox_offset = 352;
  float slope = 0;
  float inter = 0;
  char units = 2; // mm
  std::string magic{"n+1\0", 4};
};

inline Bytes nifti_1(const NiftiFields& f, const Bytes& data) {
  Bytes h(352, '\0');
  const auto put = [&h](std::size_t at, const Bytes& piece) { h.replace(at, piece.size(), piece); };
  put(0, number(std::int32_t(348), f.big));
  put(40, numbers(f.dim, f.big));
  put(70, number(f.datatype, f.big));
  put(72, number(std::int16_t(16), f.big));
  put(76, numbers(f.pixdim, f.big));
  put(108, number(f.vox_offset, f.big));
  put(112, number(f.slope, f.big));
  put(116, number(f.inter, f.big));
  h[123] = f.units;
  put(344, f.magic);
  return h + data;
}

inline Bytes sample_nii() {
  return nifti_1({}, numbers(ramp<std::int16_t>()));
}
inline Bytes sample_nii_gz() {
  return deflated(sample_nii(), true);
}

/// NIfTI-2, double, scaled by 2 with offset 1, spacing 500 micron.
inline Bytes sample_nifti_2() {
  Bytes h(544, '\0');
  const auto put = [&h](std::size_t at, const Bytes& piece) { h.replace(at, piece.size(), piece); };
  put(0, number(std::int32_t(540)));
  put(4, Bytes("n+2\0\r\n\x1a\n", 8));
  put(12, number(std::int16_t(64)));
  put(14, number(std::int16_t(64)));
  put(16, numbers(std::vector<std::int64_t>{3, 4, 3, 2, 1, 1, 1, 1}));
  put(104, numbers(std::vector<double>{1, 500, 500, 500, 0, 0, 0, 0}));
  put(168, number(std::int64_t(544)));
  put(176, number(2.0));
  put(184, number(1.0));
  put(500, number(std::int32_t(3)));
  return h + numbers(ramp<double>());
}

// ---- surfaces: the tetrahedron with corners at the origin and the unit points

inline Bytes sample_off() {
  return "OFF\n# a tetrahedron\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
         "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
}

inline Bytes sample_binary_stl() {
  const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  Bytes bytes = Bytes(80, ' ') + number(std::uint32_t(4));
  for (const auto& t : triangle) {
    bytes += Bytes(12, '\0'); // the normal
    for (const int v : t)
      bytes += numbers(std::vector<float>{corner[v][0], corner[v][1], corner[v][2]});
    bytes += Bytes(2, '\0');
  }
  return bytes;
}

inline Bytes sample_ascii_stl() {
  return "solid tetrahedron\n"
         "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\n"
         "endfacet\n"
         "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\n"
         "endfacet\n"
         "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\n"
         "endfacet\n"
         "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\n"
         "endfacet\n"
         "endsolid tetrahedron\n";
}

// ---- ParOSol, by the plain C API and in the old format that h5py writes by default

/// Datasets of /Image_Data; fields left empty are not written.
struct ParosolFile {
  std::vector<hsize_t> image_shape{2, 3, 4}; // z, y, x
  std::vector<float> image = std::vector<float>(24, 1000.f);
  std::vector<double> voxel_size{0.25};
  bool scalar_is_list = false;                // extents (1) in place of a scalar
  std::string poisson_name = "Poisons_ratio"; // sic
  std::vector<double> poisson{0.3};
  std::string poisson_image_name = "Poissons_ratio_Image";
  std::vector<float> poisson_image;
  std::vector<hsize_t> poisson_image_shape{2, 3, 4};
  std::vector<std::uint16_t> fixed{0, 0, 0, 2, 2, 3, 4, 0}; // z, y, x, direction
  std::vector<hsize_t> fixed_shape{2, 4};
  std::vector<float> fixed_value{0.f, -0.5f};
  std::vector<std::uint16_t> loaded;
  std::vector<float> loaded_value;
  std::vector<std::uint16_t> body;
  std::vector<float> body_value;
  std::vector<std::uint16_t> traction;
  std::vector<float> traction_value;
  unsigned gzip = 0;          // of the images
  std::vector<hsize_t> chunk; // of these; empty: the whole
};

inline void put_dataset(hid_t group, const char* name, hid_t file_type, hid_t memory_type,
                        const std::vector<hsize_t>& shape, const void* data, unsigned gzip = 0,
                        std::vector<hsize_t> chunk = {}) {
  const hid_t space = shape.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(int(shape.size()), shape.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (gzip > 0) {
    if (chunk.empty())
      chunk = shape;
    H5Pset_chunk(properties, int(chunk.size()), chunk.data());
    H5Pset_deflate(properties, gzip);
  }
  const hid_t dataset =
      H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  const herr_t written = H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
  if (written < 0)
    throw std::runtime_error(std::string("the test cannot write ") + name);
}

inline void write_parosol(const std::string& path, const ParosolFile& f = {}) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "Image_Data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const std::vector<hsize_t> scalar =
      f.scalar_is_list ? std::vector<hsize_t>{1} : std::vector<hsize_t>{};
  const auto floats = [&](const char* name, const std::vector<hsize_t>& shape,
                          const std::vector<float>& v, unsigned gzip = 0) {
    if (!v.empty())
      put_dataset(group, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, shape, v.data(), gzip,
                  gzip > 0 ? f.chunk : std::vector<hsize_t>());
  };
  const auto doubles = [&](const char* name, const std::vector<double>& v) {
    if (!v.empty())
      put_dataset(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                  v.size() == 1 ? scalar : std::vector<hsize_t>{v.size()}, v.data());
  };
  const auto rows = [&](const char* name, const std::vector<hsize_t>& shape,
                        const std::vector<std::uint16_t>& v) {
    if (!v.empty())
      put_dataset(group, name, H5T_STD_U16LE, H5T_NATIVE_UINT16, shape, v.data());
  };
  const auto list = [&](const std::string& name, const std::vector<std::uint16_t>& v,
                        const std::vector<float>& values) {
    rows((name + "_Coordinates").c_str(), {v.size() / 4, 4}, v);
    floats((name + "_Values").c_str(), {values.size()}, values);
  };
  floats("Image", f.image_shape, f.image, f.gzip);
  doubles("Voxelsize", f.voxel_size);
  doubles(f.poisson_name.c_str(), f.poisson);
  floats(f.poisson_image_name.c_str(), f.poisson_image_shape, f.poisson_image, f.gzip);
  rows("Fixed_Displacement_Coordinates", f.fixed_shape, f.fixed);
  floats("Fixed_Displacement_Values", {f.fixed_value.size()}, f.fixed_value);
  list("Loaded_Nodes", f.loaded, f.loaded_value);
  list("Bodyforce", f.body, f.body_value);
  list("Tractions", f.traction, f.traction_value);
  H5Gclose(group);
  if (H5Fclose(file) < 0)
    throw std::runtime_error("the test cannot write " + path);
}

/// As ITK's HDF5ImageIO writes an image.
struct ItkFile {
  std::vector<hsize_t> shape{2, 3, 4}; // z, y, x, components
  std::vector<std::int16_t> value = std::vector<std::int16_t>(24, 1000);
  std::vector<double> spacing{0.5, 0.5, 0.5};
  std::vector<double> origin{1, -2, 3};
  std::vector<double> directions{0, 1, 0, -1, 0, 0, 0, 0, 1}; // rows: axes of the image
  std::vector<std::uint64_t> dimension{4, 3, 2};
  unsigned gzip = 5;
  bool latest = true; // superblock 2, as ITK 5; else 0
};

inline void write_itk(const std::string& path, const ItkFile& f = {}) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (f.latest)
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  const std::int8_t version[] = {'5', '.', '4'};
  put_dataset(file, "ITKVersion", H5T_STD_I8LE, H5T_NATIVE_INT8, {3}, version);
  const hid_t images = H5Gcreate2(file, "ITKImage", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(images, "0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const auto doubles = [&](const char* name, const std::vector<hsize_t>& shape,
                           const std::vector<double>& v) {
    put_dataset(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, v.data());
  };
  put_dataset(group, "Dimension", H5T_STD_U64LE, H5T_NATIVE_UINT64, {f.dimension.size()},
              f.dimension.data());
  const hsize_t rank = f.origin.size();
  doubles("Origin", {rank}, f.origin);
  doubles("Spacing", {rank}, f.spacing);
  doubles("Directions", {rank, rank}, f.directions);
  std::vector<hsize_t> plane = f.shape;
  plane[0] = 1;
  put_dataset(group, "VoxelData", H5T_STD_I16LE, H5T_NATIVE_INT16, f.shape, f.value.data(), f.gzip,
              plane);
  H5Gclose(group);
  H5Gclose(images);
  H5Fclose(file);
}

} // namespace ossatura_test
