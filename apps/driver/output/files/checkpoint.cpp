// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/files/checkpoint.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/output/content_hash.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/byte_stream.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace ossatura {

namespace {

constexpr std::size_t head_size = 512; // the smallest block that HDF5 can be told to pass over
const std::string head_start = "ossatura checkpoint, xxh64 of what follows byte 512: ";

/// The block at the start of the file, made from what follows it.
std::string head_of(const std::string& path) {
  std::uint64_t left = require_input_file(path);
  ByteStream stream(path, 0, ByteStream::Coding::plain);
  std::vector<unsigned char> block(std::size_t(1) << 18);
  ContentHash hash;
  left -= std::min<std::uint64_t>(left, head_size);
  stream.skip(head_size);
  while (left > 0) {
    const std::size_t part = std::size_t(std::min<std::uint64_t>(left, block.size()));
    stream.read(block.data(), part);
    hash.add_bytes(block.data(), part);
    left -= part;
  }
  std::string head = head_start + hash.digits() + '\n';
  head.resize(head_size, '\0');
  return head;
}

} // namespace

CheckpointFile::CheckpointFile(const std::string& path, const std::string& format)
    : output_(path)
    , file_(Hdf5File::create(output_.temporary_path(), path, head_size)) {
  file_.root().set_attribute("format", format);
}

void CheckpointFile::commit() {
  file_.close();
  const std::string head = head_of(output_.temporary_path());
  // Nothing but the head of the file changes: "r+".
  std::FILE* stream = std::fopen(output_.temporary_path().c_str(), "r+b");
  const bool written =
      stream != nullptr && std::fwrite(head.data(), 1, head.size(), stream) == head.size();
  const bool closed = stream != nullptr && std::fclose(stream) == 0;
  if (!written || !closed)
    fail<InputError>(output_.path(), ": cannot be written completely; is the disk full?");
  output_.commit();
}

Hdf5File open_checkpoint(const std::string& path, const std::string& format) {
  const std::vector<unsigned char> start = read_head(path, head_size);
  const std::string head(start.begin(), start.end());
  if (head.size() == head_size && head.compare(0, head_start.size(), head_start) == 0) {
    if (head != head_of(path))
      fail<InputError>(path, ": is damaged: its bytes are not those that were written");
    Hdf5File file = Hdf5File::open(path);
    if (file.root().text_attribute("format") != format)
      fail<InputError>(path, ": is an ", file.root().text_attribute("format"), ", not an ", format);
    return file;
  }
  // An earlier version wrote it, or its first line is damaged, or it is something else.
  fail<InputError>(path, ": is not an ", format, " (its first line is not '", head_start, "...')");
}

void write_course(Hdf5Group& root, const Course& course) {
  Hdf5Group group = root.create_group("course");
  for (const CourseOption& option : course)
    group.write_scalar(option.name.substr(2), option.value);
}

void warn_of_other_course(const std::string& path, const Hdf5Group& root, const Course& course) {
  if (!root.has("course"))
    return;
  const Hdf5Group group = root.group("course");
  std::vector<std::string> before, now;
  for (const CourseOption& option : course) {
    const std::string name = option.name.substr(2);
    if (!group.has(name))
      continue;
    const double value = group.dataset(name).read_scalar<double>("an option of the steps");
    if (value == option.value)
      continue;
    before.push_back(option.name + ' ' + format_number(value));
    now.push_back(format_number(option.value));
  }
  if (!before.empty())
    log_warning("resumed-otherwise", path, ": its steps were taken with ", joined(before, ", "),
                ", and those from here on are with ", joined(now, ", "),
                ": the course is not that of a run that never stopped; give ", joined(before, " "),
                " to go on as it began");
}

} // namespace ossatura
