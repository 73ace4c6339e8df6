// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/file.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#if defined(OSSATURA_HAS_GDCM)

#include <ossatura/core/io/dicom/lengths.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <gdcmAttribute.h>
#include <gdcmPixmapReader.h>
#include <gdcmReader.h>
#include <gdcmTrace.h>
#include <gdcmUIDs.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#endif

namespace ossatura {

bool is_dicom_file(const std::string& path) {
  return text_of(read_head(path, 132)).substr(0, 132).find("DICM", 128) == 128;
}

#if defined(OSSATURA_HAS_GDCM)

namespace {

const gdcm::Tag media_class(0x0002, 0x0002), image_type(0x0008, 0x0008), modality(0x0008, 0x0060),
    series(0x0020, 0x000e), description(0x0008, 0x103e), number(0x0020, 0x0011),
    position(0x0020, 0x0032), orientation(0x0020, 0x0037), samples(0x0028, 0x0002),
    photometric(0x0028, 0x0004), frames(0x0028, 0x0008), rows(0x0028, 0x0010),
    columns(0x0028, 0x0011), spacing(0x0028, 0x0030), intercept(0x0028, 0x1052),
    slope(0x0028, 0x1053), unit(0x0028, 0x1054), table(0x0028, 0x3000), pixels(0x7fe0, 0x0010);

constexpr const char* big_endian = "1.2.840.10008.1.2.2";
constexpr const char* ct_images = "1.2.840.10008.5.1.4.1.1.2"; ///< also as enhanced CT

/// The library prints what we throw.
void keep_quiet() {
  gdcm::Trace::DebugOff();
  gdcm::Trace::WarningOff();
  gdcm::Trace::ErrorOff();
}

[[noreturn]] void fail_damaged(const std::string& path, const std::string& what) {
  fail<InputError>(path, ": ", what, ": the file is damaged or no DICOM slice");
}

/// The values of a file's elements.
class Elements {
public:
  Elements(const std::string& path, const gdcm::DataSet& set)
      : path_(path)
      , set_(set) {}

  bool has(const gdcm::Tag& tag) const { return set_.FindDataElement(tag); }

  /// Empty where there is none.
  std::string text(const gdcm::Tag& tag) const {
    const gdcm::ByteValue* bytes = has(tag) ? set_.GetDataElement(tag).GetByteValue() : nullptr;
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
        fail_damaged(path_, "element " + name_of(tag) + " is '" + all + "', and not " +
                                std::to_string(count) + (count == 1 ? " number" : " numbers"));
      begin = end + 1;
    }
    return true;
  }

  /// An unsigned number of two bytes; 0 where there is none.
  template<std::uint16_t Group, std::uint16_t Element>
  std::uint64_t number_at() const {
    const gdcm::Tag tag(Group, Element);
    const gdcm::ByteValue* bytes = has(tag) ? set_.GetDataElement(tag).GetByteValue() : nullptr;
    if (bytes == nullptr || bytes->GetLength() < 2)
      return 0;
    gdcm::Attribute<Group, Element> attribute;
    attribute.SetFromDataElement(set_.GetDataElement(tag));
    return attribute.GetValue();
  }

private:
  const std::string& path_;
  const gdcm::DataSet& set_;

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

/// What the library throws is not of ours.
template<class Work>
bool succeeds(const Work& work) {
  keep_quiet();
  try {
    return work();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

/// Stored values are integers in some of the bits that are allocated for each.
class StoredValues {
public:
  StoredValues(const std::string& path, const gdcm::PixelFormat& format)
      : path_(path)
      , bytes_(format.GetBitsAllocated() / 8)
      , used_(format.GetBitsStored())
      , is_signed_(format.GetPixelRepresentation() == 1) {
    const int allocated = format.GetBitsAllocated(), high = format.GetHighBit();
    if ((allocated != 8 && allocated != 16 && allocated != 32) || format.GetSamplesPerPixel() != 1)
      fail<InputError>(path, ": has ", allocated, " bits for each of ", format.GetSamplesPerPixel(),
                       " samples of a pixel; one sample of 8, 16 or 32 bits is read");
    if (used_ < 1 || used_ > allocated || high != used_ - 1)
      fail_damaged(path, "says that " + std::to_string(used_) + " bits up to bit " +
                             std::to_string(high) + " are used of " + std::to_string(allocated));
  }

  std::size_t bytes() const { return std::size_t(bytes_); }

  /// The one that begins at `at`.
  std::int64_t operator()(const char* at) const {
    std::uint64_t bits = 0;
    for (int b = bytes_; b-- > 0;) // the library has put them into the order of x86 and ARM
      bits = bits << 8 | static_cast<unsigned char>(at[b]);
    const std::uint64_t mask = (std::uint64_t(1) << used_) - 1,
                        all = (std::uint64_t(1) << 8 * bytes_) - 1;
    const bool negative = is_signed_ && (bits >> (used_ - 1) & 1) != 0;
    const std::uint64_t rest = bits & ~mask;
    if (rest != 0 && !(negative && rest == (all & ~mask)))
      fail<InputError>(path_, ": a pixel has bits beyond the ", used_,
                       " that the header says are used: an overlay in the pixels, or a wrong "
                       "header; convert the series with dcm2niix");
    return std::int64_t(bits & mask) - (negative ? std::int64_t(mask) + 1 : 0);
  }

private:
  const std::string& path_;
  int bytes_, used_;
  bool is_signed_;
};

} // namespace

bool can_read_dicom() {
  return true;
}

DicomHeader read_dicom_header(const std::string& path) {
  require_dicom_lengths(path);
  gdcm::Reader reader;
  reader.SetFileName(path.c_str());
  const std::set<gdcm::Tag> wanted = {image_type, modality,    series,  description, number,
                                      position,   orientation, samples, photometric, frames,
                                      rows,       columns,     spacing, intercept,   slope,
                                      unit,       table};
  if (!succeeds([&] { return reader.ReadSelectedTags(wanted); }))
    fail_damaged(path, "its header cannot be read");
  DicomHeader header;
  header.path = path;
  header.syntax =
      gdcm::TransferSyntax::GetTSString(reader.GetFile().GetHeader().GetDataSetTransferSyntax());
  const Elements meta(path, reader.GetFile().GetHeader()),
      elements(path, reader.GetFile().GetDataSet());
  header.series = elements.text(series);
  header.number = elements.text(number);
  header.description = elements.text(description);
  header.modality = elements.text(modality);
  header.unit = elements.text(unit);
  header.photometric = elements.text(photometric);
  header.rows = elements.number_at<0x0028, 0x0010>();
  header.columns = elements.number_at<0x0028, 0x0011>();
  header.samples = elements.number_at<0x0028, 0x0002>();
  header.is_image = header.rows > 0 && header.columns > 0;
  if (!header.is_image && meta.text(media_class).rfind(ct_images, 0) == 0)
    fail_damaged(path, "it is of CT, and has no rows and columns");
  header.is_localizer = elements.text(image_type).find("LOCALIZER") != std::string::npos;
  header.has_table = elements.has(table);
  if (double count; elements.decimals(frames, &count, 1))
    header.num_frames = std::int64_t(std::min(std::max(count, 0.0), 1e9));
  if (header.is_image && header.num_frames == 1) {
    double axes[6], edges[2];
    header.has_place = elements.decimals(position, header.position.data(), 3) &&
                       elements.decimals(orientation, axes, 6) &&
                       elements.decimals(spacing, edges, 2);
    if (header.has_place) {
      std::copy(axes, axes + 3, header.along_row.begin());
      std::copy(axes + 3, axes + 6, header.along_column.begin());
      header.spacing = {edges[1], edges[0]}; // the file has that between rows first
    }
    const bool has_slope = elements.decimals(slope, &header.slope, 1);
    header.has_rescale = elements.decimals(intercept, &header.intercept, 1) && has_slope;
  }
  return header;
}

void read_dicom_values(const DicomHeader& header, float* value) {
  const std::string& path = header.path;
  gdcm::PixmapReader reader;
  reader.SetFileName(path.c_str());
  if (!succeeds([&] { return reader.Read(); }))
    fail_damaged(path, "its pixels cannot be read");
  const gdcm::Pixmap& image = reader.GetPixmap();
  const StoredValues stored(path, image.GetPixelFormat());
  const std::size_t count = std::size_t(header.rows * header.columns),
                    bytes = count * stored.bytes();
  if (image.GetRows() != header.rows || image.GetColumns() != header.columns ||
      image.GetBufferLength() != bytes)
    fail_damaged(path, "its pixels are not those of the header");
  const gdcm::ByteValue* data = image.GetDataElement().GetByteValue();
  const bool is_plain = !image.GetTransferSyntax().IsEncapsulated();
  if (is_plain && (data == nullptr || std::size_t(data->GetLength()) != bytes + bytes % 2))
    fail<InputError>(path, ": has not the ", bytes, " bytes of ", header.columns, " x ",
                     header.rows, " pixels: the file is truncated or damaged");
  std::vector<char> buffer(bytes);
  // The library clears bits that are not used, where they should be seen.
  if (is_plain && header.syntax != big_endian)
    std::copy(data->GetPointer(), data->GetPointer() + bytes, buffer.begin());
  else if (!succeeds([&] { return image.GetBuffer(buffer.data()); }))
    fail<InputError>(path, ": its pixels are compressed (", image.GetTransferSyntax().GetString(),
                     "), and GDCM cannot take them apart: they are damaged, or of a kind that it "
                     "lacks; write them uncompressed, with dcmdjpeg of dcmtk or gdcmconv --raw");
  for (std::size_t i = 0; i < count; ++i) {
    value[i] =
        float(header.slope * double(stored(buffer.data() + i * stored.bytes())) + header.intercept);
    if (!std::isfinite(value[i]))
      fail_damaged(path, "a rescaled value is not finite");
  }
}

#else

namespace {

[[noreturn]] void refuse(const std::string& path) {
  fail<InputError>(path, ": is DICOM, which this build does not read: convert the series with "
                         "dcm2niix to .nii, or build with GDCM (Debian: libgdcm-dev)");
}

} // namespace

bool can_read_dicom() {
  return false;
}

DicomHeader read_dicom_header(const std::string& path) {
  refuse(path);
}

void read_dicom_values(const DicomHeader& header, float* /*value*/) {
  refuse(header.path);
}

#endif

} // namespace ossatura
