// SPDX-License-Identifier: Apache-2.0
// Kept objects pass from row to row, because they take long to make.
#pragma once

#include <memory>
#include <utility>

namespace ossatura::bench {

/// Lists itself, so that release_kept() finds it. Static variables only.
class KeptBase {
public:
  KeptBase();
  KeptBase(const KeptBase&) = delete;
  KeptBase& operator=(const KeptBase&) = delete;
  virtual void release() = 0;

protected:
  ~KeptBase() = default;
};

/// Releases all: before memory is measured, and before Kokkos ends.
void release_kept();

/// The value made last, by its key; the next one takes its place.
template<class Key, class Value>
class Kept final : KeptBase {
public:
  /// `make` returns a std::unique_ptr<Value>.
  template<class Make>
  Value& get(const Key& key, const Make& make) {
    if (!value_ || !(key == key_)) {
      value_.reset(); // before there is another
      value_ = make();
      key_ = key;
    }
    return *value_;
  }
  /// The value kept, if any, whatever its key.
  const Value* value() const { return value_.get(); }
  void release() override { value_.reset(); }

private:
  Key key_{};
  std::unique_ptr<Value> value_;
};

} // namespace ossatura::bench
