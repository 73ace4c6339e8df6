// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/gdcm/readers.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/dicom/gdcm/elements.hpp>

#include <gdcmPixmapReader.h>
#include <gdcmReader.h>
#include <gdcmUIDs.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace ossatura {

namespace {

const gdcm::Tag media_class(0x0002, 0x0002), image_type(0x0008, 0x0008), modality(0x0008, 0x0060),
    series(0x0020, 0x000e), description(0x0008, 0x103e), number(0x0020, 0x0011),
    position(0x0020, 0x0032), orientation(0x0020, 0x0037), samples(0x0028, 0x0002),
    photometric(0x0028, 0x0004), frames(0x0028, 0x0008), rows(0x0028, 0x0010),
    columns(0x0028, 0x0011), spacing(0x0028, 0x0030), intercept(0x0028, 0x1052),
    slope(0x0028, 0x1053), unit(0x0028, 0x1054), table(0x0028, 0x3000), pixels(0x7fe0, 0x0010);

constexpr const char* big_endian = "1.2.840.10008.1.2.2";
constexpr const char* ct_images = "1.2.840.10008.5.1.4.1.1.2"; ///< also as enhanced CT
constexpr const char* segmentations = "1.2.840.10008.5.1.4.1.1.66.4";
constexpr const char* label_maps = "1.2.840.10008.5.1.4.1.1.66.7";

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
      fail_damaged_dicom(path, "says that " + std::to_string(used_) + " bits up to bit " +
                                   std::to_string(high) + " are used of " +
                                   std::to_string(allocated));
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

DicomHeader read_gdcm_header(const std::string& path) {
  gdcm::Reader reader;
  reader.SetFileName(path.c_str());
  const std::set<gdcm::Tag> wanted = {image_type, modality,    series,  description, number,
                                      position,   orientation, samples, photometric, frames,
                                      rows,       columns,     spacing, intercept,   slope,
                                      unit,       table};
  if (!gdcm_succeeds([&] { return reader.ReadSelectedTags(wanted); }))
    fail_damaged_dicom(path, "its header cannot be read");
  DicomHeader header;
  header.path = path;
  header.syntax =
      gdcm::TransferSyntax::GetTSString(reader.GetFile().GetHeader().GetDataSetTransferSyntax());
  const DicomElements meta(path, reader.GetFile().GetHeader()),
      elements(path, reader.GetFile().GetDataSet());
  header.series = elements.text(series);
  header.number = elements.text(number);
  header.description = elements.text(description);
  header.modality = elements.text(modality);
  header.unit = elements.text(unit);
  header.photometric = elements.text(photometric);
  header.rows = elements.number(rows);
  header.columns = elements.number(columns);
  header.samples = elements.number(samples);
  header.is_image = header.rows > 0 && header.columns > 0;
  if (!header.is_image && meta.text(media_class).rfind(ct_images, 0) == 0)
    fail_damaged_dicom(path, "it is of CT, and has no rows and columns");
  const std::string media = meta.text(media_class);
  header.is_segmentation = media == segmentations || media == label_maps;
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
    header.has_rescale = elements.decimals(intercept, &header.intercept, 1) || has_slope;
  }
  return header;
}

void read_gdcm_values(const DicomHeader& header, float* value) {
  const std::string& path = header.path;
  gdcm::PixmapReader reader;
  reader.SetFileName(path.c_str());
  if (!gdcm_succeeds([&] { return reader.Read(); }))
    fail_damaged_dicom(path, "its pixels cannot be read");
  const gdcm::Pixmap& image = reader.GetPixmap();
  const StoredValues stored(path, image.GetPixelFormat());
  const std::size_t count = std::size_t(header.rows * header.columns),
                    bytes = count * stored.bytes();
  if (image.GetRows() != header.rows || image.GetColumns() != header.columns ||
      image.GetBufferLength() != bytes)
    fail_damaged_dicom(path, "its pixels are not those of the header");
  const gdcm::ByteValue* data = image.GetDataElement().GetByteValue();
  const bool is_plain = !image.GetTransferSyntax().IsEncapsulated();
  if (is_plain && (data == nullptr || std::size_t(data->GetLength()) != bytes + bytes % 2))
    fail<InputError>(path, ": has not the ", bytes, " bytes of ", header.columns, " x ",
                     header.rows, " pixels: the file is truncated or damaged");
  std::vector<char> buffer(bytes);
  // The library clears bits that are not used, where they should be seen.
  if (is_plain && header.syntax != big_endian)
    std::copy(data->GetPointer(), data->GetPointer() + bytes, buffer.begin());
  else if (!gdcm_succeeds([&] { return image.GetBuffer(buffer.data()); }))
    fail<InputError>(path, ": its pixels are compressed (", image.GetTransferSyntax().GetString(),
                     "), and GDCM cannot take them apart: they are damaged, or of a kind that it "
                     "lacks; write them uncompressed, with dcmdjpeg of dcmtk or gdcmconv --raw");
  for (std::size_t i = 0; i < count; ++i) {
    value[i] =
        float(header.slope * double(stored(buffer.data() + i * stored.bytes())) + header.intercept);
    if (!std::isfinite(value[i]))
      fail_damaged_dicom(path, "a rescaled value is not finite");
  }
}

} // namespace ossatura
