// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/file.hpp>

#include <ossatura/core/io/hdf5/library_call.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

namespace ossatura {

using detail::LibraryCall, detail::reason;

namespace {

std::string describe(const std::vector<std::uint64_t>& shape) {
  if (shape.empty())
    return "scalar";
  std::ostringstream text;
  for (std::size_t i = 0; i < shape.size(); ++i)
    text << (i == 0 ? "" : " x ") << shape[i];
  return text.str();
}

std::vector<hsize_t> to_hsize(const std::vector<std::uint64_t>& shape) {
  return std::vector<hsize_t>(shape.begin(), shape.end());
}

Hdf5Handle new_space(const std::vector<std::uint64_t>& shape, bool extendible) {
  if (shape.empty())
    return Hdf5Handle(H5Screate(H5S_SCALAR), &H5Sclose);
  const std::vector<hsize_t> extent = to_hsize(shape);
  std::vector<hsize_t> most = extent;
  if (extendible)
    most[0] = H5S_UNLIMITED;
  return Hdf5Handle(H5Screate_simple(int(extent.size()), extent.data(), most.data()), &H5Sclose);
}

/// Product of extents, saturating.
std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0)
      return 0;
    n = n > std::numeric_limits<std::uint64_t>::max() / extent
            ? std::numeric_limits<std::uint64_t>::max()
            : n * extent;
  }
  return n;
}

/// The extents of so many rows; a scalar is one.
std::vector<std::uint64_t> shape_of_rows(std::vector<std::uint64_t> shape, std::uint64_t rows) {
  if (!shape.empty())
    shape[0] = rows;
  return shape;
}

/// Rows of a dataset: what is selected of the file, and in memory. Empty handles where that fails.
struct RowSelection {
  Hdf5Handle memory, file;

  RowSelection(hid_t dataset, const std::vector<std::uint64_t>& shape, std::uint64_t first,
               std::uint64_t rows)
      : memory(new_space(shape_of_rows(shape, rows), false))
      , file(H5Dget_space(dataset), &H5Sclose) {
    std::vector<hsize_t> begin(shape.size(), 0);
    begin[0] = first;
    const std::vector<hsize_t> count = to_hsize(shape_of_rows(shape, rows));
    if (file && H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, begin.data(), nullptr, count.data(),
                                    nullptr) < 0)
      file.reset();
  }
  explicit operator bool() const { return memory && file; }
};

Hdf5Dataset::Kind kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
  case H5T_INTEGER:
    return Hdf5Dataset::Kind::integer;
  case H5T_ENUM:
    return Hdf5Dataset::Kind::integer; // h5py writes booleans as enumerations
  case H5T_FLOAT:
    return Hdf5Dataset::Kind::real;
  case H5T_STRING:
    return Hdf5Dataset::Kind::text;
  default:
    return Hdf5Dataset::Kind::other;
  }
}

const char* describe(Hdf5Dataset::Kind kind) {
  switch (kind) {
  case Hdf5Dataset::Kind::integer:
    return "integers";
  case Hdf5Dataset::Kind::real:
    return "floating-point numbers";
  case Hdf5Dataset::Kind::text:
    return "text";
  case Hdf5Dataset::Kind::other:
    break;
  }
  return "neither numbers nor text";
}

/// The filters of a dataset that this HDF5 library does not have, as text; empty if none.
std::string missing_filter(hid_t properties) {
  const int num_filters = H5Pget_nfilters(properties);
  for (int i = 0; i < num_filters; ++i) {
    unsigned flags = 0;
    std::size_t num_values = 0;
    char name[64] = "";
    unsigned config = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties, unsigned(i), &flags, &num_values,
                                               nullptr, sizeof name, name, &config);
    name[sizeof name - 1] = '\0';
    if (filter > 0 && H5Zfilter_avail(filter) <= 0)
      return std::string(name) + " (HDF5 filter " + std::to_string(filter) + ")";
  }
  return {};
}

} // namespace

template<>
hid_t hdf5_native_type<float>() {
  const LibraryCall call;
  return H5T_NATIVE_FLOAT;
}
template<>
hid_t hdf5_native_type<double>() {
  const LibraryCall call;
  return H5T_NATIVE_DOUBLE;
}
template<>
hid_t hdf5_native_type<std::int8_t>() {
  const LibraryCall call;
  return H5T_NATIVE_INT8;
}
template<>
hid_t hdf5_native_type<std::uint8_t>() {
  const LibraryCall call;
  return H5T_NATIVE_UINT8;
}
template<>
hid_t hdf5_native_type<std::int16_t>() {
  const LibraryCall call;
  return H5T_NATIVE_INT16;
}
template<>
hid_t hdf5_native_type<std::uint16_t>() {
  const LibraryCall call;
  return H5T_NATIVE_UINT16;
}
template<>
hid_t hdf5_native_type<std::int32_t>() {
  const LibraryCall call;
  return H5T_NATIVE_INT32;
}
template<>
hid_t hdf5_native_type<std::uint32_t>() {
  const LibraryCall call;
  return H5T_NATIVE_UINT32;
}
template<>
hid_t hdf5_native_type<std::int64_t>() {
  const LibraryCall call;
  return H5T_NATIVE_INT64;
}
template<>
hid_t hdf5_native_type<std::uint64_t>() {
  const LibraryCall call;
  return H5T_NATIVE_UINT64;
}

void skip_hdf5_exit_cleanup() {
  H5dont_atexit();
}

void Hdf5Handle::reset() {
  if (id_ >= 0 && close_ != nullptr) {
    const LibraryCall call;
    if (close_(id_) < 0 && failures_ && failures_->count++ == 0)
      failures_->first = reason();
  }
  id_ = -1;
}

// ---- attributes

bool Hdf5Object::has_attribute(const std::string& name) const {
  const LibraryCall call;
  return H5Aexists(id(), name.c_str()) > 0;
}

void Hdf5Object::set_attribute(const std::string& name, const std::string& text) {
  const LibraryCall call;
  const bool ascii = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; });
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
  // HDF5 has no strings of length zero; the padding reads back as the empty text.
  H5Tset_size(type.get(), std::max<std::size_t>(1, text.size()));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  if (H5Aexists(id(), name.c_str()) > 0)
    H5Adelete(id(), name.c_str());
  const Hdf5Handle attribute(
      H5Acreate2(id(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose,
      failures());
  if (!attribute || H5Awrite(attribute.get(), type.get(), text.c_str()) < 0)
    fail<InputError>(where(), ": attribute '", name, "' cannot be written", reason());
}

void Hdf5Object::set_numbers(const std::string& name, hid_t type, const void* values,
                             std::size_t count) {
  const LibraryCall call;
  const Hdf5Handle space = new_space({count}, false);
  if (H5Aexists(id(), name.c_str()) > 0)
    H5Adelete(id(), name.c_str());
  const Hdf5Handle attribute(
      H5Acreate2(id(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose,
      failures());
  if (!attribute || (count > 0 && H5Awrite(attribute.get(), type, values) < 0))
    fail<InputError>(where(), ": attribute '", name, "' cannot be written", reason());
}

std::string Hdf5Object::text_attribute(const std::string& name) const {
  const LibraryCall call;
  const Hdf5Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), &H5Aclose);
  const Hdf5Handle type(attribute ? H5Aget_type(attribute.get()) : -1, &H5Tclose);
  const Hdf5Handle space(attribute ? H5Aget_space(attribute.get()) : -1, &H5Sclose);
  if (!type || !space || H5Tget_class(type.get()) != H5T_STRING ||
      H5Sget_simple_extent_npoints(space.get()) != 1)
    fail<InputError>(where(), ": attribute '", name, "' is not a text", reason());
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), &text) < 0 || text == nullptr)
      fail<InputError>(where(), ": attribute '", name, "' cannot be read", reason());
    std::string copy(text);
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, &text);
    return copy;
  }
  const std::size_t length = H5Tget_size(type.get());
  if (length > (std::size_t(1) << 26))
    fail<InputError>(where(), ": attribute '", name, "' claims a text of ", length, " bytes");
  std::string text(length, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0)
    fail<InputError>(where(), ": attribute '", name, "' cannot be read", reason());
  text.resize(std::strlen(text.c_str()));
  return text;
}

// ---- datasets

Hdf5Dataset::Hdf5Dataset(Hdf5Handle handle, std::string file, std::string path)
    : Hdf5Object(std::move(handle), std::move(file), std::move(path)) {
  const LibraryCall call;
  const Hdf5Handle space(H5Dget_space(id()), &H5Sclose);
  const Hdf5Handle type(H5Dget_type(id()), &H5Tclose);
  if (!space || !type)
    fail<InputError>(where(), ": is damaged", reason());
  kind_ = kind_of(type.get());
  value_bytes_ = H5Tget_size(type.get());
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL)
    fail<InputError>(where(), ": is an empty (null) dataset; write values");
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0)
    fail<InputError>(where(), ": is damaged", reason());
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
  if (H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr) < 0)
    fail<InputError>(where(), ": is damaged", reason());
  shape_.assign(extent.begin(), extent.end());
}

bool Hdf5Dataset::is_of_type(hid_t type) const {
  const LibraryCall call;
  const Hdf5Handle own(H5Dget_type(id()), &H5Tclose);
  return own && H5Tequal(own.get(), type) > 0;
}

std::uint64_t Hdf5Dataset::size() const {
  return product(shape_);
}

void Hdf5Dataset::require_rank(int rank, const char* remedy) const {
  if (int(shape_.size()) != rank)
    fail<InputError>(where(), " has rank ", shape_.size(), " (", describe(shape_), "); ", remedy);
}

void Hdf5Dataset::require_numbers(bool integers, const char* remedy) const {
  if (kind_ != Kind::integer && (integers || kind_ != Kind::real))
    fail<InputError>(where(), " holds ", describe(kind_), "; ", remedy);
}

void Hdf5Dataset::require_readable(bool integers, std::size_t bytes_per_value) const {
  const LibraryCall call;
  require_numbers(integers, integers ? "integers are expected" : "numbers are expected");
  const Hdf5Handle properties(H5Dget_create_plist(id()), &H5Pclose);
  const Hdf5Handle type(H5Dget_type(id()), &H5Tclose);
  if (!properties || !type)
    fail<InputError>(where(), ": is damaged", reason());
  const std::string filter = missing_filter(properties.get());
  if (!filter.empty())
    fail<InputError>(where(), ": is compressed with ", filter,
                     ", which this HDF5 library lacks; rewrite the file with 'h5repack -f GZIP=4'");

  // For what is missing there HDF5 gives fill values, without an error.
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  if (layout == H5D_VIRTUAL || H5Pget_external_count(properties.get()) > 0)
    fail<InputError>(where(), ": has its values in other files; write them into this one");

  // What the file can hold: the values themselves where they are stored plain; at most 1032 times
  // the stored bytes behind deflate, and, for chunks never written, some multiple of the file.
  // A damaged extent goes beyond.
  const std::uint64_t count = size();
  const std::uint64_t stored_value = std::max<std::uint64_t>(1, H5Tget_size(type.get()));
  hsize_t file_size = 0;
  const Hdf5Handle file(H5Iget_file_id(id()), &H5Fclose);
  if (!file || H5Fget_filesize(file.get(), &file_size) < 0)
    fail<InputError>(where(), ": is damaged", reason());
  const std::uint64_t floor = std::uint64_t(1) << 20;
  const std::uint64_t most =
      std::max<std::uint64_t>(floor, file_size * (layout == H5D_CHUNKED ? 4096 : 1)) / stored_value;
  if (count > most || count > std::numeric_limits<std::size_t>::max() / bytes_per_value)
    fail<InputError>(where(), ": claims ", describe(shape_), " values of ", stored_value,
                     " bytes, more than a file of ", file_size,
                     " bytes can hold: the file is damaged or truncated");

  // The library believes the stored size of plain datasets and the place of the data, and reads
  // out of bounds where a damaged header has them wrong.
  const std::uint64_t stored = H5Dget_storage_size(id());
  const haddr_t place = layout == H5D_CONTIGUOUS ? H5Dget_offset(id()) : HADDR_UNDEF;
  const bool in_header = layout == H5D_COMPACT;
  const bool in_file = place != HADDR_UNDEF;
  if (((in_header || in_file) && stored != count * stored_value) ||
      (in_file && (place > file_size || stored > file_size - place)))
    fail<InputError>(where(), ": ", describe(shape_), " values of ", stored_value, " bytes lie in ",
                     stored, " bytes of a file of ", file_size,
                     ": the file is damaged or truncated");
}

void Hdf5Dataset::require_rows(std::uint64_t first, std::uint64_t rows) const {
  const std::uint64_t most = shape_.empty() ? 1 : shape_[0];
  OSSATURA_REQUIRE(first <= most && rows <= most - first, where() << ": rows " << first << " to "
                                                                  << first + rows << " of "
                                                                  << describe(shape_));
}

std::uint64_t Hdf5Dataset::size_of_rows(std::uint64_t rows) const {
  return product(shape_of_rows(shape_, rows));
}

void Hdf5Dataset::fail_memory(std::uint64_t rows, std::size_t bytes_per_value) const {
  fail<BackendError>(where(), ": its ", describe(shape_of_rows(shape_, rows)), " values need ",
                     double(size_of_rows(rows)) * double(bytes_per_value) / double(1 << 30),
                     " GiB, which do not fit in memory");
}

void Hdf5Dataset::fail_scalar(const char* remedy) const {
  fail<InputError>(where(), " has ", describe(shape_), " values; ", remedy);
}

void Hdf5Dataset::read_rows_into(std::uint64_t first, std::uint64_t rows, void* values,
                                 hid_t type) const {
  require_rows(first, rows);
  if (size_of_rows(rows) == 0)
    return;
  const LibraryCall call;
  hid_t memory = H5S_ALL, file = H5S_ALL;
  std::optional<RowSelection> part;
  if (size_of_rows(rows) < size()) {
    part.emplace(id(), shape_, first, rows);
    memory = part->memory.get();
    file = part->file.get();
  }
  if ((part && !*part) || H5Dread(id(), type, memory, file, H5P_DEFAULT, values) < 0)
    fail<InputError>(where(), ": cannot be read: the file is damaged or truncated", reason());
}

void Hdf5Dataset::write_from(const void* values, hid_t type) {
  const LibraryCall call;
  if (H5Dwrite(id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    fail<InputError>(where(), ": cannot be written", reason());
}

void Hdf5Dataset::write_rows_from(std::uint64_t first, std::uint64_t rows, const void* values,
                                  hid_t type) {
  OSSATURA_REQUIRE(!shape_.empty(), where() << " is a scalar");
  require_rows(first, rows);
  if (rows == 0 || size() == 0)
    return;
  const LibraryCall call;
  const RowSelection part(id(), shape_, first, rows);
  if (!part || H5Dwrite(id(), type, part.memory.get(), part.file.get(), H5P_DEFAULT, values) < 0)
    fail<InputError>(where(), ": cannot be written", reason());
}

void Hdf5Dataset::write_own_rows(std::uint64_t first, std::uint64_t rows, const void* values) {
  const LibraryCall call;
  const Hdf5Handle type(H5Dget_type(id()), &H5Tclose);
  write_rows_from(first, rows, values, type.get());
}

void Hdf5Dataset::extend(std::uint64_t rows) {
  OSSATURA_REQUIRE(!shape_.empty(), where() << " is a scalar");
  const LibraryCall call;
  std::vector<std::uint64_t> longer = shape_;
  longer[0] += rows;
  if (H5Dset_extent(id(), to_hsize(longer).data()) < 0)
    fail<InputError>(where(), ": cannot be extended", reason());
  shape_ = std::move(longer);
}

// ---- groups

std::string Hdf5Group::path_of(const std::string& name) const {
  return path() == "/" ? "/" + name : path() + "/" + name;
}

bool Hdf5Group::has(const std::string& name) const {
  const LibraryCall call;
  htri_t found = H5Lexists(id(), name.c_str(), H5P_DEFAULT);
  if (found > 0)
    found = H5Oexists_by_name(id(), name.c_str(), H5P_DEFAULT);
  if (found < 0)
    fail<InputError>(file_name(), ": ", path_of(name), ": the file is damaged or cannot be read",
                     reason());
  return found > 0;
}

std::vector<std::string> Hdf5Group::names() const {
  const LibraryCall call;
  std::vector<std::string> found;
  hsize_t position = 0;
  H5Literate(
      id(), H5_INDEX_NAME, H5_ITER_INC, &position,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        auto& list = *static_cast<std::vector<std::string>*>(data);
        list.emplace_back(name);
        return list.size() < 1000 ? 0 : 1;
      },
      &found);
  return found;
}

namespace {

std::string listing(const Hdf5Group& group) {
  std::vector<std::string> names = group.names();
  if (names.empty())
    return "it is empty";
  const bool more = names.size() > 12;
  names.resize(std::min<std::size_t>(names.size(), 12));
  std::string text = "it has";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? " " : ", ") + names[i];
  return more ? text + ", ..." : text;
}

} // namespace

Hdf5Group Hdf5Group::group(const std::string& name) const {
  const LibraryCall call;
  if (!has(name))
    fail<InputError>(where(), ": there is no group '", name, "'; ", listing(*this));
  Hdf5Handle handle(H5Gopen2(id(), name.c_str(), H5P_DEFAULT), &H5Gclose, failures());
  if (!handle)
    fail<InputError>(file_name(), ": ", path_of(name), ": is not a group or is damaged", reason());
  return Hdf5Group(std::move(handle), file_name(), path_of(name));
}

Hdf5Dataset Hdf5Group::dataset(const std::string& name) const {
  const LibraryCall call;
  if (!has(name))
    fail<InputError>(where(), ": there is no dataset '", name, "'; ", listing(*this));
  Hdf5Handle handle(H5Dopen2(id(), name.c_str(), H5P_DEFAULT), &H5Dclose, failures());
  if (!handle)
    fail<InputError>(file_name(), ": ", path_of(name), ": is not a dataset or is damaged",
                     reason());
  return Hdf5Dataset(std::move(handle), file_name(), path_of(name));
}

Hdf5Group Hdf5Group::create_group(const std::string& name) {
  const LibraryCall call;
  Hdf5Handle handle(H5Gcreate2(id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                    &H5Gclose, failures());
  if (!handle)
    fail<InputError>(file_name(), ": group ", path_of(name), " cannot be created", reason());
  return Hdf5Group(std::move(handle), file_name(), path_of(name));
}

void Hdf5Group::remove(const std::string& name) {
  const LibraryCall call;
  if (H5Lexists(id(), name.c_str(), H5P_DEFAULT) > 0 &&
      H5Ldelete(id(), name.c_str(), H5P_DEFAULT) < 0)
    fail<InputError>(file_name(), ": ", path_of(name), " cannot be replaced", reason());
}

Hdf5Dataset Hdf5Group::create_of_type(const std::string& name, hid_t type,
                                      std::size_t bytes_per_value,
                                      const std::vector<std::uint64_t>& shape,
                                      const Hdf5Layout& layout) {
  const LibraryCall call;
  const bool chunked = !shape.empty() && (layout.extendible || (layout.gzip > 0 && product(shape)));
  const Hdf5Handle space = new_space(shape, layout.extendible);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  if (chunked) {
    std::vector<hsize_t> chunk = to_hsize(layout.chunk);
    if (chunk.empty()) {
      // Whole rows up to 1 MiB; a row longer than that is cut along the next extent and so on.
      std::uint64_t left = std::max<std::uint64_t>(1, (std::uint64_t(1) << 20) / bytes_per_value);
      chunk.assign(shape.size(), 1);
      for (std::size_t i = shape.size(); i-- > 0;) {
        const bool grows = i == 0 && layout.extendible;
        chunk[i] = std::max<std::uint64_t>(1, grows ? left : std::min(shape[i], left));
        left = std::max<std::uint64_t>(1, left / chunk[i]);
      }
    }
    H5Pset_chunk(properties.get(), int(chunk.size()), chunk.data());
    if (layout.gzip > 0) {
      H5Pset_shuffle(properties.get());
      H5Pset_deflate(properties.get(), unsigned(layout.gzip));
    }
  }
  Hdf5Handle handle(
      H5Dcreate2(id(), name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      &H5Dclose, failures());
  if (!handle)
    fail<InputError>(file_name(), ": dataset ", path_of(name), " cannot be created", reason());
  return Hdf5Dataset(std::move(handle), file_name(), path_of(name));
}

// ---- files

Hdf5File Hdf5File::open(const std::string& path) {
  require_input_file(path);
  const LibraryCall call;
  if (H5Fis_hdf5(path.c_str()) <= 0)
    fail<InputError>(path, ": is not an HDF5 file (no HDF5 signature)");
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  // Reading must work on file systems without locks, and beside another reader.
  H5Pset_file_locking(access.get(), false, true);
#endif
  Hdf5Handle handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), &H5Fclose);
  if (!handle)
    fail<InputError>(path, ": the HDF5 file is truncated or damaged", reason());
  return Hdf5File(std::move(handle), path);
}

Hdf5File Hdf5File::open_to_change(const std::string& path, const std::string& shown_as) {
  const std::string& name = shown_as.empty() ? path : shown_as;
  require_input_file(path);
  const LibraryCall call;
  Hdf5Handle handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), &H5Fclose,
                    std::make_shared<Hdf5Failures>());
  if (!handle)
    fail<InputError>(name, ": is not an HDF5 file that can be changed", reason());
  return Hdf5File(std::move(handle), name);
}

Hdf5File Hdf5File::create(const std::string& path, const std::string& shown_as,
                          std::uint64_t user_block) {
  const std::string& name = shown_as.empty() ? path : shown_as;
  const LibraryCall call;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110);
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), &H5Pclose);
  H5Pset_userblock(creation.get(), user_block);
  Hdf5Handle handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), &H5Fclose,
                    std::make_shared<Hdf5Failures>());
  if (!handle)
    fail<InputError>(name, ": cannot be created", reason());
  return Hdf5File(std::move(handle), name);
}

Hdf5Group Hdf5File::root() const {
  const LibraryCall call;
  Hdf5Handle handle(H5Gopen2(handle_.get(), "/", H5P_DEFAULT), &H5Gclose, handle_.failures());
  if (!handle)
    fail<InputError>(name_, ": the root group is damaged", reason());
  return Hdf5Group(std::move(handle), name_, "/");
}

void Hdf5File::close() {
  const LibraryCall call;
  const std::shared_ptr<Hdf5Failures> failures = handle_.failures();
  const bool flushed = H5Fflush(handle_.get(), H5F_SCOPE_LOCAL) >= 0;
  const std::string why = flushed ? std::string() : reason();
  handle_.reset();
  if (!failures) // opened for reading
    return;
  if (failures->count > 0 || !flushed)
    fail<InputError>(name_, ": cannot be written completely; is the disk full?",
                     failures->count > 0 ? failures->first : why);
}

} // namespace ossatura
