// SPDX-License-Identifier: Apache-2.0
// An Hdf5Field is a dataset of results: it is written row by row, and values that are not finite
// are noticed.
#pragma once

#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/row_writer.hpp>
#include <ossatura/core/io/text/const_span.hpp>
#include <ossatura/core/io/text/finite_values.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// Rows of a field that another process than the one with the file made.
struct Hdf5FieldBlock {
  Hdf5RowsBlock rows;
  bool all_finite = true;
};

/// What the fields of a file share, which writes what is pending before it closes.
struct Hdf5FieldFile {
  bool all_finite = true; ///< of all fields so far
  Hdf5PendingChunks pending;
};

/// Streams a field in blocks of rows. Throws InputError where they cannot be written.
class Hdf5Field {
public:
  Hdf5Field(Hdf5Dataset dataset, std::shared_ptr<Hdf5FieldFile> file);

  /// Appends `values.size / components` rows of any number type.
  template<class T>
  void append(ConstSpan<T> values) {
    if (file_->all_finite && !are_finite(values, nan_is_mark_)) {
      file_->all_finite = false;
      warn_not_finite(rows_.dataset().where());
    }
    rows_.append(values.data, rows_in(values.size));
  }
  template<class T>
  void append(const std::vector<T>& values) {
    append(ConstSpan<T>(values));
  }
  /// Appends rows that `make(first, rows, T* values)` puts to `values`, of the type of the field:
  /// rows first to first + rows of these, some at a time, by many threads.
  template<class T, class Make>
  void append_made(std::uint64_t rows, const Make& make) {
    std::atomic<bool> finite = true;
    const std::uint64_t row_size = rows_.row_size();
    rows_.append_made<T>(rows, [&](std::uint64_t first, std::uint64_t count, T* values) {
      make(first, count, values);
      if (!is_every_finite(ConstSpan<T>(values, std::size_t(count * row_size)), nan_is_mark_))
        finite = false;
    });
    if (!finite && std::exchange(file_->all_finite, false))
      warn_not_finite(rows_.dataset().where());
  }
  /// The same of whole numbers in either width: make() takes std::int32_t* and std::int64_t*.
  template<class Make>
  void append_indices(std::uint64_t rows, const Make& make) {
    if (rows_.dataset().value_bytes() == sizeof(std::int32_t))
      append_made<std::int32_t>(rows, make);
    else
      append_made<std::int64_t>(rows, make);
  }
  /// How another process is to make rows of it (Hdf5FieldPart), and the rows that it made.
  Hdf5ChunkLayout layout() const { return rows_.layout(); }
  void append(const Hdf5FieldBlock& block);
  /// All rows: as they lie in `kept`, another file of a series, where that has them; else those
  /// that write(*this) appends. Null: always these.
  template<class Write>
  void append_kept(Hdf5KeptRows* kept, const Write& write) {
    if (kept == nullptr)
      write(*this);
    else
      rows_.append_kept(*kept, [&] {
        write(*this);
        return file_->all_finite;
      });
  }
  /// NaN stands where there is no value; elsewhere the writer warns of it (`not-finite`).
  void take_nan_as_mark() { nan_is_mark_ = true; }
  /// Unit of the values, as attribute `unit`.
  void set_unit(const std::string& unit) { set_attribute("unit", unit); }
  void set_attribute(const std::string& name, const std::string& text) {
    rows_.dataset().set_attribute(name, text);
  }

private:
  std::uint64_t rows_in(std::size_t count) const;

  std::shared_ptr<Hdf5FieldFile> file_; ///< before what refers to it
  Hdf5RowWriter rows_;
  bool nan_is_mark_ = false;
};

/// Rows of a field of a file that another process has: from row `first` on, of the type of the
/// field.
class Hdf5FieldPart {
public:
  Hdf5FieldPart(const Hdf5ChunkLayout& layout, std::uint64_t first)
      : rows_(layout, first) {}

  /// As those of Hdf5Field.
  template<class T>
  void append(ConstSpan<T> values) {
    require_type<T>();
    if (!are_finite(values))
      all_finite_ = false;
    rows_.append(values.data, values.size / rows_.layout().row_values);
  }
  template<class T, class Make>
  void append_made(std::uint64_t rows, const Make& make) {
    require_type<T>();
    rows_.append(
        [&](std::uint64_t first, std::uint64_t count, void* to) {
          make(first, count, static_cast<T*>(to));
          if (!is_every_finite(ConstSpan<T>(static_cast<const T*>(to),
                                            std::size_t(count * rows_.layout().row_values)),
                               false))
            all_finite_ = false;
        },
        rows);
  }
  template<class Make>
  void append_indices(std::uint64_t rows, const Make& make) {
    if (rows_.layout().value_bytes == sizeof(std::int32_t))
      append_made<std::int32_t>(rows, make);
    else
      append_made<std::int64_t>(rows, make);
  }

  /// Of Hdf5RowsPart.
  std::size_t bytes() const { return rows_.bytes(); }
  Hdf5FieldBlock take() { return {rows_.take(), all_finite_}; }
  Hdf5FieldBlock take_last() { return {rows_.take_last(), all_finite_}; }

private:
  template<class T>
  void require_type() const {
    OSSATURA_REQUIRE(sizeof(T) == rows_.layout().value_bytes,
                     "values of " << sizeof(T) << " bytes for some of "
                                  << rows_.layout().value_bytes);
  }

  Hdf5RowsPart rows_;
  std::atomic<bool> all_finite_ = true;
};

} // namespace ossatura
