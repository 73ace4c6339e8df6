// SPDX-License-Identifier: Apache-2.0
// DicomElements take the values out of the elements that GDCM has read of a file. Where GDCM is not
// included this header is empty.
#pragma once

#if defined(OSSATURA_HAS_GDCM)

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <gdcmDataSet.h>
#include <gdcmSequenceOfItems.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace ossatura {

[[noreturn]] inline void fail_damaged_dicom(const std::string& path, const std::string& what) {
  fail<InputError>(path, ": ", what, ": the file is damaged or no DICOM slice");
}

/// Whether `work` with GDCM returns true. What the library throws is not of ours, and it prints
/// what we throw.
template<class Work>
bool gdcm_succeeds(const Work& work) {
  gdcm::Trace::DebugOff();
  gdcm::Trace::WarningOff();
  gdcm::Trace::ErrorOff();
  try {
    return work();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

/// The values of the elements of the file at `path`, which outlives them, or of an item in it.
class DicomElements {
public:
  DicomElements(const std::string& path, const gdcm::DataSet& set)
      : path_(&path)
      , set_(&set) {}

  bool has(const gdcm::Tag& tag) const { return set_->FindDataElement(tag); }

  /// Empty where there is none.
  std::string text(const gdcm::Tag& tag) const {
    const gdcm::ByteValue* bytes = bytes_at(tag);
    if (bytes == nullptr || bytes->GetLength() == 0)
      return {};
    return trimmed({bytes->GetPointer(), std::size_t(bytes->GetLength())});
  }

  /// As many decimals as wanted; false where there is no value.
  bool decimals(const gdcm::Tag& tag, double* value, std::size_t count) const {
    const std::string all = text(tag);
    if (all.empty())
      return false;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t end = std::min(all.find('\\', begin), all.size());
      const std::string one = begin > all.size() ? "" : trimmed(all.substr(begin, end - begin));
      if (!TextScanner::parse(one, value[k]) || !std::isfinite(value[k]))
        fail_damaged_dicom(*path_, "element " + name_of(tag) + " is '" + all + "', and not " +
                                       std::to_string(count) +
                                       (count == 1 ? " number" : " numbers"));
      begin = end + 1;
    }
    return true;
  }

  /// An unsigned number of two bytes, the first of several; 0 where there is none.
  std::uint64_t number(const gdcm::Tag& tag) const {
    const gdcm::ByteValue* bytes = bytes_at(tag);
    std::uint16_t value = 0; // the library has put its bytes into the order of x86 and ARM
    if (bytes != nullptr && bytes->GetLength() >= sizeof value)
      std::memcpy(&value, bytes->GetPointer(), sizeof value);
    return value;
  }

  /// The items of a sequence; none where there is no such sequence.
  std::vector<DicomElements> items(const gdcm::Tag& tag) const {
    std::vector<DicomElements> found;
    if (!has(tag))
      return found;
    const gdcm::SmartPointer<gdcm::SequenceOfItems> sequence =
        set_->GetDataElement(tag).GetValueAsSQ();
    if (!sequence)
      return found;
    for (gdcm::SequenceOfItems::SizeType k = 1; k <= sequence->GetNumberOfItems(); ++k) {
      found.emplace_back(*path_, sequence->GetItem(k).GetNestedDataSet());
      found.back().owner_ = sequence;
    }
    return found;
  }

private:
  const std::string* path_;
  const gdcm::DataSet* set_;
  gdcm::SmartPointer<gdcm::SequenceOfItems> owner_; ///< of an item's elements

  const gdcm::ByteValue* bytes_at(const gdcm::Tag& tag) const {
    return has(tag) ? set_->GetDataElement(tag).GetByteValue() : nullptr;
  }

  static std::string trimmed(const std::string& text) {
    const std::string blanks(" \t\r\n\0", 5);
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string::npos)
      return {};
    std::string rest = text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
    for (char& c : rest) // other character sets, and damage: texts go into messages
      if (c < ' ' || c > '~')
        c = '?';
    return rest;
  }
  static std::string name_of(const gdcm::Tag& tag) {
    char name[12];
    std::snprintf(name, sizeof name, "%04x,%04x", unsigned(tag.GetGroup()),
                  unsigned(tag.GetElement()));
    return name;
  }
};

} // namespace ossatura

#endif
