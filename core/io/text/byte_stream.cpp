// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/byte_stream.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <zlib.h>

namespace ossatura {

struct ByteStream::State {
  std::string path;
  std::uint64_t size = 0; ///< bytes of the file
  std::uint64_t left = 0; ///< of these, from the start on
  Coding coding = Coding::plain;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{nullptr, &std::fclose};
  z_stream inflater{};
  std::vector<unsigned char> buffer;
  bool at_end = false; ///< of the compressed stream

  ~State() {
    if (coding == Coding::deflate)
      inflateEnd(&inflater);
  }

  /// Fills the input of the inflater; false at the end of the file.
  bool refill() {
    if (inflater.avail_in > 0)
      return true;
    inflater.next_in = buffer.data();
    inflater.avail_in = uInt(std::fread(buffer.data(), 1, buffer.size(), file.get()));
    return inflater.avail_in > 0;
  }

  [[noreturn]] void fail_early_end() const {
    fail<InputError>(path, ": is truncated: the data ends early");
  }

  /// `bytes` null: inflates them for nothing.
  void inflate_into(unsigned char* bytes, std::size_t count) {
    std::vector<unsigned char> waste(bytes == nullptr ? std::min(count, buffer.size()) : 0);
    while (count > 0) {
      if (at_end) { // another gzip member may follow
        if (!refill() || inflateReset(&inflater) != Z_OK)
          fail<InputError>(path, ": the compressed data ends ", count, " bytes early");
        at_end = false;
      }
      std::size_t made = 0;
      if (bytes == nullptr) {
        made = inflate_some(waste.data(), std::min(count, waste.size()));
      } else {
        made = inflate_some(bytes, std::min<std::size_t>(count, std::size_t(1) << 30));
        bytes += made;
      }
      count -= made;
    }
  }

  /// Inflates at most `count` bytes of the member that is open; returns how many came out.
  std::size_t inflate_some(unsigned char* bytes, std::size_t count) {
    if (!refill())
      fail<InputError>(path, ": the compressed data is truncated");
    inflater.next_out = bytes;
    inflater.avail_out = uInt(count);
    const int status = ::inflate(&inflater, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END)
      fail<InputError>(path, ": the compressed data is damaged",
                       inflater.msg != nullptr ? std::string(" (") + inflater.msg + ")" : "");
    at_end = status == Z_STREAM_END;
    return count - inflater.avail_out;
  }

  /// Goes on to the checksum behind the last byte, which zlib compares, and to the end of the file.
  /// Members of no bytes may follow, as bgzip writes one.
  void inflate_rest(const std::string& meaning) {
    for (;;) {
      unsigned char extra;
      if (!at_end && inflate_some(&extra, 1) > 0)
        fail<InputError>(path, ": has more data than ", meaning,
                         ": sizes in the header are wrong or the file is damaged");
      if (!at_end)
        continue;
      if (!refill())
        return;
      if (inflateReset(&inflater) != Z_OK)
        fail<InputError>(path, ": the compressed data is damaged");
      at_end = false;
    }
  }
};

ByteStream::ByteStream(const std::string& path, std::uint64_t begin, Coding coding)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  const std::uint64_t size = require_input_file(path);
  if (begin > size)
    fail<InputError>(path, ": is truncated: ", size, " bytes, but data is expected from byte ",
                     begin, " on");
  s.size = size;
  s.left = size - begin;
  s.file.reset(std::fopen(path.c_str(), "rb"));
  if (!s.file || ::fseeko(s.file.get(), off_t(begin), SEEK_SET) != 0)
    fail<InputError>(path, ": cannot be read: ", std::strerror(errno));
  if (coding == Coding::deflate) {
    s.buffer.resize(std::size_t(1) << 18);
    if (inflateInit2(&s.inflater, 15 + 32) != Z_OK) // 32: zlib or gzip header
      fail<InputError>(path, ": no memory to decompress");
    s.coding = coding;
  }
}

ByteStream::~ByteStream() = default;
ByteStream::ByteStream(ByteStream&&) noexcept = default;

void ByteStream::read(void* bytes, std::size_t count) {
  if (state_->coding == Coding::deflate)
    state_->inflate_into(static_cast<unsigned char*>(bytes), count);
  else if (std::fread(bytes, 1, count, state_->file.get()) != count)
    state_->fail_early_end();
}

void ByteStream::require_end(const std::string& meaning) {
  State& s = *state_;
  if (s.coding == Coding::deflate) {
    // The checksum follows the last byte of data: the stream must be read to its end to compare it.
    s.inflate_rest(meaning);
    return;
  }
  const int extra = std::fgetc(s.file.get());
  if (extra != EOF)
    fail<InputError>(s.path, ": has more data than ", meaning,
                     ": sizes in the header are wrong or the file is damaged");
}

void ByteStream::skip(std::uint64_t count) {
  State& s = *state_;
  unsigned char waste[4096];
  if (count <= sizeof waste) // which is there already
    return read(waste, count);
  if (s.coding == Coding::deflate)
    return s.inflate_into(nullptr, count);
  const off_t place = ::ftello(s.file.get());
  if (place < 0 || count > s.size - std::min(s.size, std::uint64_t(place)) ||
      ::fseeko(s.file.get(), off_t(count), SEEK_CUR) != 0)
    s.fail_early_end();
}

void ByteStream::require_plausible(std::uint64_t count, const std::string& meaning) const {
  const bool deflated = state_->coding == Coding::deflate;
  // deflate makes at most 258 bytes of 2 bits
  const std::uint64_t most = deflated ? 1032 * state_->left + 64 : state_->left;
  if (count > most)
    fail<InputError>(state_->path, ": is truncated or damaged: ", meaning, " take ", count,
                     " bytes, but the file has ", state_->left, deflated ? " compressed" : "",
                     " bytes of data");
}

} // namespace ossatura
