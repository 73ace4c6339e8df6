// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/gdcm/readers.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/dicom/gdcm/elements.hpp>

#include <gdcmPixmapReader.h>
#include <gdcmReader.h>

#include <algorithm>
#include <set>

namespace ossatura {

namespace {

const gdcm::Tag seg_distance(0x0018, 0x0088), seg_position(0x0020, 0x0032),
    seg_orientation(0x0020, 0x0037), position_group(0x0020, 0x9113),
    orientation_group(0x0020, 0x9116), seg_samples(0x0028, 0x0002), seg_frames(0x0028, 0x0008),
    seg_rows(0x0028, 0x0010), seg_columns(0x0028, 0x0011), seg_spacing(0x0028, 0x0030),
    bits_allocated(0x0028, 0x0100), padding_value(0x0028, 0x0120), measures_group(0x0028, 0x9110),
    code_meaning(0x0008, 0x0104), segmentation_type(0x0062, 0x0001), segment_list(0x0062, 0x0002),
    segment_number(0x0062, 0x0004), segment_label(0x0062, 0x0005), segment_group(0x0062, 0x000a),
    segment_of_frame(0x0062, 0x000b), fractional_most(0x0062, 0x000e),
    property_type(0x0062, 0x000f), shared_groups(0x5200, 0x9229), frame_groups(0x5200, 0x9230),
    seg_pixels(0x7fe0, 0x0010);

constexpr const char* big_endian_syntax = "1.2.840.10008.1.2.2";

[[noreturn]] void fail_segmentation(const std::string& path, const std::string& what) {
  fail<InputError>(path, ": ", what, ": the file is damaged or no DICOM segmentation");
}

std::vector<DicomSegment> list_segments(const std::string& path, const DicomElements& file,
                                        SegmentationKind kind) {
  std::vector<DicomSegment> segments;
  std::set<int> numbers;
  for (const DicomElements& item : file.items(segment_list)) {
    DicomSegment segment;
    segment.number = int(item.number(segment_number));
    segment.label = item.text(segment_label);
    for (const DicomElements& type : item.items(property_type))
      segment.kind = type.text(code_meaning);
    if (segment.number == 0) {
      if (kind == SegmentationKind::labelmap)
        continue; // the background may be listed
      fail_segmentation(path, "a segment has no number");
    }
    if (!numbers.insert(segment.number).second)
      fail_segmentation(path, "segment " + std::to_string(segment.number) + " is listed twice");
    segments.push_back(segment);
  }
  if (segments.empty())
    fail_segmentation(path, "has no segments");
  return segments;
}

/// What a frame says, or all frames together.
class FrameGroups {
public:
  FrameGroups(const DicomElements& frame, const std::vector<DicomElements>& shared)
      : frame_(frame)
      , shared_(shared) {}

  /// Reads an element of the group of this name; false where neither has it.
  template<class Read>
  bool read(const gdcm::Tag& group, const Read& from) const {
    for (const DicomElements& item : frame_.items(group))
      if (from(item))
        return true;
    for (const DicomElements& all : shared_)
      for (const DicomElements& item : all.items(group))
        if (from(item))
          return true;
    return false;
  }
  bool decimals(const gdcm::Tag& group, const gdcm::Tag& tag, double* value,
                std::size_t count) const {
    return read(group, [&](const DicomElements& item) { return item.decimals(tag, value, count); });
  }

private:
  const DicomElements& frame_;
  const std::vector<DicomElements>& shared_;
};

DicomFrame read_frame(const std::string& path, const FrameGroups& groups, SegmentationKind kind,
                      std::size_t number) {
  DicomFrame frame;
  double axes[6], edges[2];
  if (!groups.decimals(position_group, seg_position, frame.position.data(), 3) ||
      !groups.decimals(orientation_group, seg_orientation, axes, 6) ||
      !groups.decimals(measures_group, seg_spacing, edges, 2))
    fail<InputError>(path, ": frame ", number + 1,
                     " has no position, orientation or pixel spacing: such a segmentation has no "
                     "place in space (slide microscopy has others); write it anew on the CT");
  std::copy(axes, axes + 3, frame.along_row.begin());
  std::copy(axes + 3, axes + 6, frame.along_column.begin());
  frame.spacing = {edges[1], edges[0]}; // the file has that between rows first
  (void)groups.decimals(measures_group, seg_distance, &frame.distance, 1);
  if (kind != SegmentationKind::labelmap)
    (void)groups.read(segment_group, [&](const DicomElements& item) {
      frame.segment = int(item.number(segment_of_frame));
      return frame.segment != 0;
    });
  return frame;
}

/// The library's reader of pixels, of label maps as well, whose kind of file GDCM 3.0 does not
/// know.
class SegmentationPixels : public gdcm::PixmapReader {
public:
  bool read_frames() {
    // NOLINTNEXTLINE(bugprone-parent-virtual-call): PixmapReader's refuses kinds it does not know
    if (!gdcm::Reader::Read())
      return false;
    PixelData->SetTransferSyntax(GetFile().GetHeader().GetDataSetTransferSyntax());
    return ReadImage(gdcm::MediaStorage(gdcm::MediaStorage::SegmentationStorage));
  }
};

/// The pixels of all frames, `bytes` of them.
std::vector<unsigned char> take_pixels(const std::string& path, const gdcm::Reader& reader,
                                       const DicomSegments& seg, std::size_t bytes) {
  const gdcm::TransferSyntax& syntax = reader.GetFile().GetHeader().GetDataSetTransferSyntax();
  const gdcm::DataSet& set = reader.GetFile().GetDataSet();
  if (!syntax.IsEncapsulated()) {
    const gdcm::ByteValue* data =
        set.FindDataElement(seg_pixels) ? set.GetDataElement(seg_pixels).GetByteValue() : nullptr;
    const std::size_t size = data == nullptr ? 0 : std::size_t(data->GetLength());
    if (size != bytes + bytes % 2)
      fail<InputError>(path, ": has ", size, " bytes of pixels, and ", seg.frames.size(),
                       " frames of ", seg.columns, " x ", seg.rows, " pixels of ", seg.bits,
                       seg.bits == 1 ? " bit" : " bits", " have ", bytes,
                       ": the file is truncated or damaged");
    if (std::string(gdcm::TransferSyntax::GetTSString(syntax)) == big_endian_syntax)
      fail<InputError>(path, ": is of big endian transfer syntax, which DICOM has retired; write "
                             "it with dcmconv +te of dcmtk");
    return {data->GetPointer(), data->GetPointer() + bytes};
  }
  SegmentationPixels pixmap;
  pixmap.SetFileName(path.c_str());
  const gdcm::Pixmap& image = pixmap.GetPixmap();
  std::vector<unsigned char> pixels;
  if (seg.bits == 1 || !gdcm_succeeds([&] {
        if (!pixmap.read_frames() || image.GetBufferLength() != bytes)
          return false;
        pixels.resize(bytes);
        return image.GetBuffer(reinterpret_cast<char*>(pixels.data()));
      }))
    fail<InputError>(path, ": its pixels are compressed (", syntax.GetString(),
                     "), and GDCM cannot take them apart: they are damaged, or of a kind that it "
                     "lacks; write them uncompressed, with dcmdjpeg or dcmdrle of dcmtk");
  return pixels;
}

SegmentationKind kind_of(const std::string& path, const DicomElements& file) {
  const std::string type = file.text(segmentation_type);
  if (type == "BINARY")
    return SegmentationKind::binary;
  if (type == "FRACTIONAL")
    return SegmentationKind::fractional;
  if (type == "LABELMAP")
    return SegmentationKind::labelmap;
  fail_segmentation(path, "is of the segmentation type '" + type +
                              "', and BINARY, FRACTIONAL and LABELMAP are read");
}

/// Header and frames, without the pixels.
DicomSegments read_structure(const std::string& path, const DicomElements& file) {
  DicomSegments seg;
  seg.kind = kind_of(path, file);
  seg.rows = std::int64_t(file.number(seg_rows));
  seg.columns = std::int64_t(file.number(seg_columns));
  seg.bits = int(file.number(bits_allocated));
  const bool fits = seg.kind == SegmentationKind::binary       ? seg.bits == 1
                    : seg.kind == SegmentationKind::fractional ? seg.bits == 8
                                                               : seg.bits == 8 || seg.bits == 16;
  if (!fits || file.number(seg_samples) != 1 || seg.rows == 0 || seg.columns == 0)
    fail_segmentation(path, "has " + std::to_string(seg.columns) + " x " +
                                std::to_string(seg.rows) + " pixels of " +
                                std::to_string(seg.bits) + " bits, which is not of its type");
  if (seg.kind == SegmentationKind::fractional)
    seg.most = int(file.number(fractional_most));
  if (seg.most == 0)
    fail_segmentation(path, "does not say what value is a whole (MaximumFractionalValue)");
  seg.background = int(file.number(padding_value));
  seg.segments = list_segments(path, file, seg.kind);
  double count = 0;
  const std::vector<DicomElements> frames = file.items(frame_groups),
                                   shared = file.items(shared_groups);
  (void)file.decimals(seg_frames, &count, 1);
  if (frames.empty() || count != double(frames.size()))
    fail_segmentation(path, "says that it has " + std::to_string(std::int64_t(count)) +
                                " frames, and describes " + std::to_string(frames.size()));
  for (const DicomElements& frame : frames) {
    seg.frames.push_back(read_frame(path, {frame, shared}, seg.kind, seg.frames.size()));
    const int number = seg.frames.back().segment;
    if (seg.kind != SegmentationKind::labelmap &&
        std::none_of(seg.segments.begin(), seg.segments.end(),
                     [&](const DicomSegment& segment) { return segment.number == number; }))
      fail_segmentation(path, "frame " + std::to_string(seg.frames.size()) + " is of segment " +
                                  std::to_string(number) + ", which is not listed");
  }
  return seg;
}

/// Throws for a value of a label map that is no segment.
void require_known_labels(const std::string& path, const DicomSegments& seg) {
  std::vector<char> known(std::size_t(1) << 16);
  known[0] = 1;
  for (const DicomSegment& segment : seg.segments)
    known[std::size_t(segment.number)] = 1;
  const std::size_t per_frame = std::size_t(seg.rows * seg.columns);
  for (std::size_t i = 0; i < per_frame * seg.frames.size(); ++i)
    if (const int label = seg.label(seg.frames[i / per_frame], i); known[std::size_t(label)] == 0)
      fail_segmentation(path, "a pixel of frame " + std::to_string(i / per_frame + 1) +
                                  " has the label " + std::to_string(label) +
                                  ", and no segment has that number");
}

} // namespace

DicomSegments read_gdcm_segments(const std::string& path) {
  gdcm::Reader reader;
  reader.SetFileName(path.c_str());
  if (!gdcm_succeeds([&] { return reader.Read(); }))
    fail_segmentation(path, "cannot be read");
  DicomSegments seg;
  if (!gdcm_succeeds([&] {
        seg = read_structure(path, DicomElements(path, reader.GetFile().GetDataSet()));
        return true;
      }))
    fail_segmentation(path, "its sequences cannot be read");
  const std::size_t count = std::size_t(seg.rows * seg.columns) * seg.frames.size();
  seg.pixels = take_pixels(path, reader, seg,
                           seg.bits == 1 ? (count + 7) / 8 : count * std::size_t(seg.bits / 8));
  if (seg.kind == SegmentationKind::labelmap)
    require_known_labels(path, seg);
  return seg;
}

} // namespace ossatura
