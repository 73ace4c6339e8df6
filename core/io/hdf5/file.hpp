// SPDX-License-Identifier: Apache-2.0
// These classes wrap the C API of HDF5 with owners, checked shapes and errors that speak. Every
// failure is an InputError "FILE: /path in it: what was found; what is expected"; the HDF5 library
// itself prints nothing. Threads may use files at a time, each its own: they take turns in the
// library.
#pragma once

#include <ossatura/core/base/require.hpp>

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ossatura {

/// For a program's start, before anything else of HDF5: keeps the library from closing itself when
/// the program ends, which after a damaged file prints "infinite loop closing library". Objects of
/// these classes are closed by their owners.
void skip_hdf5_exit_cleanup();

/// Failures in a file where nothing could be thrown. HDF5 writes chunks and raw data when an
/// object is closed, which destructors do, and a later flush succeeds although they were lost.
struct Hdf5Failures {
  int count = 0;
  std::string first; ///< as the library says it
};

/// Owns an HDF5 identifier together with the function that closes it. A close that fails is noted
/// in `failures` where they are given.
class Hdf5Handle {
public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close, std::shared_ptr<Hdf5Failures> failures = {})
      : id_(id)
      , close_(close)
      , failures_(std::move(failures)) {}
  ~Hdf5Handle() { reset(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1))
      , close_(other.close_)
      , failures_(std::move(other.failures_)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
      failures_ = std::move(other.failures_);
    }
    return *this;
  }
  hid_t get() const { return id_; }
  /// Of the file that the object belongs to.
  const std::shared_ptr<Hdf5Failures>& failures() const { return failures_; }
  explicit operator bool() const { return id_ >= 0; }
  void reset();

private:
  hid_t id_ = -1;
  Close close_ = nullptr;
  std::shared_ptr<Hdf5Failures> failures_;
};

/// The HDF5 type of T in memory; defined for float, double and the integers of 8 to 64 bits.
template<class T>
hid_t hdf5_native_type();

/// The layout of a new dataset in the file.
struct Hdf5Layout {
  int gzip = 0;                     ///< 0 = not compressed, else level 1 to 9 behind a byte shuffle
  bool extendible = false;          ///< the first extent may grow by append()
  std::vector<std::uint64_t> chunk; ///< empty = whole rows of about 1 MiB together
};

/// An object (group or dataset) of an open file, with the attributes it carries.
class Hdf5Object {
public:
  /// "FILE: /path", the start of every message about this object.
  std::string where() const { return file_ + ": " + path_; }
  const std::string& file_name() const { return file_; }
  const std::string& path() const { return path_; }
  hid_t id() const { return handle_.get(); }

  bool has_attribute(const std::string& name) const;
  /// Writes a text attribute (fixed length; ASCII where the text is, else UTF-8), replacing one
  /// that is there.
  void set_attribute(const std::string& name, const std::string& text);
  /// Writes a one-dimensional numeric attribute, replacing one that is there.
  template<class T>
  void set_attribute(const std::string& name, const std::vector<T>& values) {
    set_numbers(name, hdf5_native_type<T>(), values.data(), values.size());
  }
  /// Reads a text attribute of fixed or variable length.
  std::string text_attribute(const std::string& name) const;

protected:
  const std::shared_ptr<Hdf5Failures>& failures() const { return handle_.failures(); }
  Hdf5Object(Hdf5Handle handle, std::string file, std::string path)
      : handle_(std::move(handle))
      , file_(std::move(file))
      , path_(std::move(path)) {}

private:
  void set_numbers(const std::string& name, hid_t type, const void* values, std::size_t count);

  Hdf5Handle handle_;
  std::string file_;
  std::string path_;
};

/// A dataset: shape and kind are known once it is open, values are read and written on demand.
class Hdf5Dataset : public Hdf5Object {
public:
  enum class Kind { integer, real, text, other };

  const std::vector<std::uint64_t>& shape() const { return shape_; }
  Kind kind() const { return kind_; }
  /// Bytes of a value in the file.
  std::size_t value_bytes() const { return value_bytes_; }
  /// Whether values lie in the file as T does in memory.
  template<class T>
  bool holds() const {
    return is_of_type(hdf5_native_type<T>());
  }
  /// Product of the extents; 1 for a scalar.
  std::uint64_t size() const;

  /// Throws unless the number of extents is `rank`; `remedy` ends the message.
  void require_rank(int rank, const char* remedy) const;
  /// Throws unless the values are numbers (integers, with `integers`); `remedy` ends the message.
  void require_numbers(bool integers, const char* remedy) const;

  /// All values, converted to T, in C order. Text, compounds, and reals where T is an integer are
  /// errors; integers out of the range of T are clamped to its ends. The size is compared with what
  /// the file can hold before memory is asked for.
  template<class T>
  std::vector<T> read() const {
    return read_rows<T>(0, shape_.empty() ? 1 : shape_[0]);
  }

  /// The same of rows [first, first + rows) of the first extent. Chunks are read as a whole, one at
  /// a time.
  template<class T>
  std::vector<T> read_rows(std::uint64_t first, std::uint64_t rows) const {
    std::vector<T> values = make_rows<T>(first, rows);
    read_rows_into(first, rows, values.data(), hdf5_native_type<T>());
    return values;
  }

  /// Room for such rows, after the checks of read(): what is claimed is there.
  template<class T>
  std::vector<T> make_rows(std::uint64_t first, std::uint64_t rows) const {
    require_readable(std::is_integral_v<T>, sizeof(T));
    require_rows(first, rows);
    std::vector<T> values;
    try {
      values.resize(size_of_rows(rows));
    } catch (const std::exception&) {
      fail_memory(rows, sizeof(T));
    }
    return values;
  }

  /// The value of a scalar dataset or of one with a single entry.
  template<class T>
  T read_scalar(const char* remedy) const {
    if (size() != 1)
      fail_scalar(remedy);
    return read<T>()[0];
  }

  /// Writes all values; `values` has size() entries in C order.
  template<class T>
  void write(const T* values) {
    write_from(values, hdf5_native_type<T>());
  }

  /// Writes rows [first, first + rows) of the first extent.
  template<class T>
  void write_rows(std::uint64_t first, std::uint64_t rows, const T* values) {
    write_rows_from(first, rows, values, hdf5_native_type<T>());
  }

  /// The same of values that lie in memory as in the file.
  void write_own_rows(std::uint64_t first, std::uint64_t rows, const void* values);

  /// Grows an extendible dataset by `rows` of the first extent and writes them.
  template<class T>
  void append(std::uint64_t rows, const T* values) {
    extend(rows);
    write_rows(shape_[0] - rows, rows, values);
  }

private:
  friend class Hdf5Group;
  Hdf5Dataset(Hdf5Handle handle, std::string file, std::string path);
  bool is_of_type(hid_t type) const;
  void require_readable(bool integers, std::size_t bytes_per_value) const;
  void require_rows(std::uint64_t first, std::uint64_t rows) const;
  std::uint64_t size_of_rows(std::uint64_t rows) const;
  [[noreturn]] void fail_memory(std::uint64_t rows, std::size_t bytes_per_value) const;
  [[noreturn]] void fail_scalar(const char* remedy) const;
  void read_rows_into(std::uint64_t first, std::uint64_t rows, void* values, hid_t type) const;
  void write_from(const void* values, hid_t type);
  void write_rows_from(std::uint64_t first, std::uint64_t rows, const void* values, hid_t type);
  void extend(std::uint64_t rows);

  std::vector<std::uint64_t> shape_;
  Kind kind_ = Kind::other;
  std::size_t value_bytes_ = 0;
};

/// A group, the root of a file among them. Keeps the file open while it lives.
class Hdf5Group : public Hdf5Object {
public:
  /// Whether `name` is an object of this group (links that lead nowhere are not). Throws InputError
  /// where that cannot be read.
  bool has(const std::string& name) const;
  /// Opens a group or dataset. A missing one is an error that lists what is there.
  Hdf5Group group(const std::string& name) const;
  Hdf5Dataset dataset(const std::string& name) const;
  /// Names in this group, sorted; at most 1000.
  std::vector<std::string> names() const;

  Hdf5Group create_group(const std::string& name);
  /// Unlinks a group or dataset if it is there.
  void remove(const std::string& name);

  /// Creates a dataset of the given extents (none: a scalar) without writing values.
  template<class T>
  Hdf5Dataset create(const std::string& name, const std::vector<std::uint64_t>& shape,
                     const Hdf5Layout& layout = {}) {
    return create_of_type(name, hdf5_native_type<T>(), sizeof(T), shape, layout);
  }
  /// The same for a type known at run time only: `type` takes `bytes_per_value` bytes.
  Hdf5Dataset create_of_type(const std::string& name, hid_t type, std::size_t bytes_per_value,
                             const std::vector<std::uint64_t>& shape, const Hdf5Layout& layout);
  /// Creates a dataset and writes `values`, product(shape) of them in C order.
  template<class T>
  Hdf5Dataset write(const std::string& name, const std::vector<std::uint64_t>& shape,
                    const T* values, const Hdf5Layout& layout = {}) {
    Hdf5Dataset dataset = create<T>(name, shape, layout);
    if (dataset.size() > 0)
      dataset.write(values);
    return dataset;
  }
  template<class T>
  Hdf5Dataset write_scalar(const std::string& name, T value) {
    return write(name, {}, &value);
  }

private:
  friend class Hdf5File;
  using Hdf5Object::Hdf5Object;
  std::string path_of(const std::string& name) const;
};

/// An open HDF5 file.
class Hdf5File {
public:
  /// Opens an existing file for reading. Anything but an intact HDF5 file is an error.
  static Hdf5File open(const std::string& path);
  /// Opens an existing file for reading and writing; messages call it `shown_as` where given.
  static Hdf5File open_to_change(const std::string& path, const std::string& shown_as = {});
  /// Creates or empties a file (format of HDF5 1.8 to 1.10, checksummed metadata); messages call it
  /// `shown_as` where given: the final name of a file written under a temporary one. The first
  /// `user_block` bytes (0, or a power of two from 512 on) are zeros, for the caller to change.
  static Hdf5File create(const std::string& path, const std::string& shown_as = {},
                         std::uint64_t user_block = 0);

  Hdf5Group root() const;
  /// Writes everything out and closes. Throws where that fails, or where an object of the file
  /// could not be closed before: something is lost then. Objects of the file must be gone by then.
  void close();

private:
  Hdf5File(Hdf5Handle handle, std::string name)
      : handle_(std::move(handle))
      , name_(std::move(name)) {}

  Hdf5Handle handle_;
  std::string name_;
};

} // namespace ossatura
