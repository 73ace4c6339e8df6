// SPDX-License-Identifier: Apache-2.0
// These functions read keys of a JSON object that record a change.
#pragma once

#include "apps/driver/options/changes.hpp"
#include "apps/driver/problem/json_place.hpp"

#include <limits>
#include <type_traits>

namespace ossatura {

/// Records a change for each key that is there. Refers to both, which must outlive it.
template<class Options>
class ChangeReader {
public:
  ChangeReader(const JsonPlace& place, Changes<Options>& changes)
      : place_(place)
      , changes_(changes) {}

  /// `read(place)` gives what replaces `member`.
  template<class Member, class Read>
  void set(const char* key, Member member, const Read& read) {
    if (const auto found = place_.find(key))
      changes_.set(member, read(*found));
  }
  template<class Member, class Enum = std::decay_t<std::invoke_result_t<Member, Options&>>>
  void choose(const char* key, Member member, const Names<Enum>& choices = name_table<Enum>) {
    set(key, member, [&](const JsonPlace& place) { return place.choice(choices); });
  }
  template<class Member>
  void flag(const char* key, Member member) {
    set(key, member, [](const JsonPlace& place) { return place.boolean(); });
  }
  /// Greater than 0 and less than 1.
  template<class Member>
  void fraction(const char* key, Member member, const char* expected) {
    set(key, member, [expected](const JsonPlace& place) { return place.fraction(expected); });
  }
  /// A whole number of at least `least`.
  template<class Member>
  void count(const char* key, Member member, int least, const char* expected,
             int most = std::numeric_limits<int>::max()) {
    set(key, member, [=](const JsonPlace& place) { return place.whole(least, most, expected); });
  }

private:
  const JsonPlace& place_;
  Changes<Options>& changes_;
};

} // namespace ossatura
