// SPDX-License-Identifier: Apache-2.0
// Changes are values from a file or the command line that replace defaults. They are recorded first
// and made later: a default may depend on a mesh that is not read yet, and the command line wins
// over the file.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace ossatura {

/// `Member` below is a pointer to a member of Options, or a function that returns a reference into
/// them.
template<class Options>
class Changes {
public:
  Options defaults; ///< what help shows, and what applied() begins with

  using Change = std::function<void(Options&)>;

  void add(Change change) { list_.push_back(std::move(change)); }
  template<class Member, class Value>
  void set(Member member, Value value) {
    add([member, value](Options& options) { std::invoke(member, options) = value; });
  }
  void append(const Changes& later) {
    list_.insert(list_.end(), later.list_.begin(), later.list_.end());
  }

  /// Makes them in the order of their coming.
  void apply_to(Options& options) const {
    for (const Change& change : list_)
      change(options);
  }
  /// The defaults with them.
  Options applied() const {
    Options options = defaults;
    apply_to(options);
    return options;
  }

private:
  std::vector<Change> list_;
};

/// A member of a member (of a member ...), from the outermost to the innermost.
template<class... Members>
auto member_of(Members... members) {
  return [members...](auto& options) -> auto& {
    return (options.*....*members); // options.*first.*second, and so on
  };
}

} // namespace ossatura
