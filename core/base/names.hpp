// SPDX-License-Identifier: Apache-2.0
// The names of an enum: one table, which printing, parsing, options and help follow.
#pragma once

#include <initializer_list>

namespace ossatura {

/// Marks an entry of a table as the method of a paper that no default chooses.
inline constexpr bool is_published = true;

template<class Value>
struct Named {
  Value value{};
  const char* name = nullptr;
  bool published = false;

  constexpr operator Value() const { return value; } // loops over a table may ask for values
};

/// A table of up to 16 values with their names. An enum has its table beside it, as a function
/// `constexpr Names<Enum> names_of(Enum)`, whose argument only selects it.
template<class Value>
class Names {
public:
  constexpr Names() = default;
  constexpr Names(std::initializer_list<Named<Value>> entries) {
    for (const Named<Value>& entry : entries)
      add(entry);
  }
  constexpr Names without(const Value& value) const {
    Names others;
    for (const Named<Value>& entry : *this)
      if (!(entry.value == value))
        others.add(entry);
    return others;
  }
  constexpr void add(const Named<Value>& entry) { entries_[size_++] = entry; }

  constexpr const Named<Value>* begin() const { return entries_; }
  constexpr const Named<Value>* end() const { return entries_ + size_; }

  /// The name of `value`; null where it has none.
  constexpr const char* find(const Value& value) const {
    for (const Named<Value>& entry : *this)
      if (entry.value == value)
        return entry.name;
    return nullptr;
  }

private:
  Named<Value> entries_[16] = {};
  int size_ = 0;
};

/// The table of an enum.
template<class Enum>
inline constexpr Names<Enum> name_table = names_of(Enum());

/// As in options, files and messages.
template<class Enum>
const char* name_of(Enum value) {
  const char* name = name_table<Enum>.find(value);
  return name == nullptr ? "unknown" : name;
}

} // namespace ossatura
