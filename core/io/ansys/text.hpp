// SPDX-License-Identifier: Apache-2.0
// This text cursor splits an Ansys archive into commands with fields between commas, and into
// blocks of rows in columns of fixed widths. Comments are cut off; capitals and small letters are
// the same, and the first four letters of a command identify it.
#pragma once

#include <ossatura/core/io/text/cursor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ossatura {

/// A row format as "(1i7,2i9,6e21.13e3)": the widths of columns, of integers and then of others.
struct AnsysFormat {
  std::vector<std::size_t> integer, real;
};

class AnsysText {
public:
  AnsysText(std::string path, std::string_view content)
      : text_(std::move(path), content) {}

  /// Moves to the next command; false at the end. Throws InputError for rows that were not read.
  bool next_command();
  /// Passes the rows of numbers below the command, and the formats of rows.
  void pass_rows();
  /// At most four letters of the command's name, in capitals; of "/SOLU" and "*SET", all.
  const std::string& command() const { return command_; }
  /// Field i of the command, its name being field 0; without blanks around it, in capitals.
  std::string field(std::size_t i) const;
  std::size_t num_fields() const { return fields_.size(); }
  bool blank(std::size_t i) const { return i >= fields_.size() || fields_[i].empty(); }
  /// Field i as a number; blank fields leave the value. Throws InputError where it is none.
  void number(std::size_t i, std::int64_t& value, const char* what) const;
  void number(std::size_t i, double& value, const char* what) const;
  /// Whether field i is a number.
  bool is_number(std::size_t i) const;

  /// The format below a block's command.
  AnsysFormat take_format();
  /// Moves to the next row of numbers; false, and nothing passed, where the next line is none.
  bool next_row();
  /// Whether the row has no more columns.
  bool row_ends() const { return row_.find_first_not_of(" \t") == std::string_view::npos; }
  /// Throws InputError where the row has more columns that are not 0.
  void require_row_end() const;
  /// Takes the next column; a blank one is 0. Throws InputError where it is no number.
  std::int64_t integer(std::size_t width);
  double real(std::size_t width);
  /// Takes the next word of the row as a number; false at its end.
  bool free_real(double& value);

  /// Throws InputError with path and line of the command or row.
  template<class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    TextCursor there(text_);
    there.seek(begin_);
    there.bad(parts...);
  }

private:
  std::string_view take_column(std::size_t width);
  /// Passes blank lines and comments; the first letter of the next line, 0 at the end.
  char next_letter();

  TextCursor text_;
  std::size_t begin_ = 0; ///< of the command or row being read
  std::string_view rest_; ///< of the line, commands behind a $
  std::vector<std::string_view> fields_;
  std::string command_;
  std::string_view row_;
};

} // namespace ossatura
