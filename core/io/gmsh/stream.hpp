// SPDX-License-Identifier: Apache-2.0
// A GmshStream reads the numbers of a Gmsh file, text or binary. Both formats fill one array of
// points and hand elements on as they come.
#pragma once

#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/text/cursor.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ossatura {

/// A type of element by Gmsh's number.
struct GmshType {
  int number;
  int dimension;
  std::size_t num_nodes;
  const char* name;
};
/// Null where the number is not known.
const GmshType* find_gmsh_type(std::int64_t number);
inline constexpr int gmsh_triangle = 2, gmsh_quadrangle = 3, gmsh_tetra = 4, gmsh_hexa = 5,
                     gmsh_quadrangle_9 = 10, gmsh_hexa_27 = 12, gmsh_quadrangle_8 = 16,
                     gmsh_hexa_20 = 17;
inline constexpr std::size_t gmsh_most_nodes = 125; ///< of an element of a known type

class GmshStream {
public:
  GmshStream(std::string path, std::string_view content)
      : text(std::move(path), content) {}

  TextCursor text;
  bool binary = false;
  ByteOrder order = ByteOrder::little; ///< of binary numbers

  /// Numbers in the order they come; `what` completes the message "... where {what} is expected".
  std::int64_t integer(const char* what) { return get<std::int32_t, std::int32_t>(what); }
  double real(const char* what) { return get<double, double>(what); }
  /// A count or the tag of a node or element: 64 bits in binary files of format 4.1.
  std::uint64_t size(const char* what) { return get<std::uint64_t, std::uint64_t>(what); }

  /// Where the next number is: "line 12" or "byte 345".
  std::string place() const {
    return binary ? "byte " + std::to_string(text.position())
                  : "line " + std::to_string(text.line_number());
  }
  template<class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    fail<InputError>(text.path(), ": ", place(), ": ", parts...);
  }
  /// Before anything is allocated for `count` things of at least so many bytes each.
  void require_plausible(std::uint64_t count, std::size_t text_bytes, std::size_t binary_bytes,
                         const char* things) const {
    if (count > (text.num_left() + 1) / (binary ? binary_bytes : text_bytes))
      bad(count, " ", things, " are more than the ", text.num_left(),
          " bytes that follow can hold: the file is truncated or the number wrong");
  }

private:
  template<class T, class Stored>
  T get(const char* what) {
    T value{};
    if (!binary) {
      if (!text.next_number(value))
        text.bad_word(std::string(what) + " is expected");
      return value;
    }
    const unsigned char* bytes = text.bytes(sizeof(Stored));
    if (bytes == nullptr)
      bad("the file ends where ", what, " is expected: it is truncated");
    unsigned char native[sizeof(Stored)];
    std::memcpy(native, bytes, sizeof(Stored));
    to_native(native, 1, sizeof(Stored), order);
    Stored stored;
    std::memcpy(&stored, native, sizeof(Stored));
    return T(stored);
  }
};

/// The tags of nodes, which are any numbers, to their places in the file.
class GmshNodes {
public:
  void reserve(std::uint64_t count) { tag_.reserve(count); }
  void add(std::uint64_t tag) { tag_.push_back(tag); }
  std::size_t size() const { return tag_.size(); }
  std::uint64_t tag(std::size_t node) const { return tag_[node]; }
  /// To be called after the last add(). Returns a tag that was added twice, if there is one.
  std::optional<std::uint64_t> sort();
  /// The place, or -1.
  std::int64_t find(std::uint64_t tag) const;

private:
  struct Entry {
    std::uint64_t tag;
    std::int32_t node;
  };
  std::vector<std::uint64_t> tag_;
  std::vector<std::int32_t> node_; ///< by tag - lowest_, -1 = none; where tags are dense
  std::vector<Entry> entry_;       ///< by ascending tag; where they are not
  std::uint64_t lowest_ = 0;
};

/// A GmshMesh receives the nodes of a file, and then its elements as they come.
class GmshMesh {
public:
  explicit GmshMesh(double unit)
      : unit(unit) {}
  virtual ~GmshMesh() = default;
  GmshMesh(const GmshMesh&) = delete;
  GmshMesh& operator=(const GmshMesh&) = delete;

  double unit;
  GmshNodes nodes;
  std::vector<double> point; ///< [num_nodes, 3], times `unit`
  /// Of physical groups that have one, by dimension and number.
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> group_name;
  std::int64_t number = 0;         ///< of the element that is added
  std::vector<std::int64_t> group; ///< its physical groups

  /// Before elements of this type; throws InputError for one that is not taken.
  virtual void accept(const GmshStream& in, const GmshType& type) = 0;
  /// `node` [type.num_nodes]: places of the nodes in the file. `in` is behind the element.
  virtual void add(const GmshStream& in, const GmshType& type, const std::int64_t* node,
                   std::int64_t tissue) = 0;
  /// After the last element.
  virtual void finish(GmshStream& in) = 0;
};

/// Reads a node's coordinates.
void read_gmsh_point(GmshStream& in, GmshMesh& out);
/// Hands on an element by its nodes' tags.
void add_gmsh_element(const GmshStream& in, const GmshType& type, const std::uint64_t* tag,
                      std::int64_t tissue, GmshMesh& out);
/// The type of that number, once `out` accepts it.
const GmshType& require_gmsh_type(const GmshStream& in, std::int64_t number, GmshMesh& out);

/// Reads a file from its first to its last element.
void read_gmsh_file(const std::string& path, GmshMesh& out);

/// The sections of the formats, from the line after their name on.
void read_gmsh_2_nodes(GmshStream& in, GmshMesh& out);
void read_gmsh_2_elements(GmshStream& in, GmshMesh& out);

struct GmshEntity {
  std::int64_t tissue;
  std::vector<std::int64_t> group; ///< physical groups
};
/// By dimension and tag.
using GmshEntities = std::map<std::pair<std::int64_t, std::int64_t>, GmshEntity>;
void read_gmsh_4_entities(GmshStream& in, bool partitioned, GmshEntities& entities);
void read_gmsh_4_nodes(GmshStream& in, GmshMesh& out);
void read_gmsh_4_elements(GmshStream& in, const GmshEntities& entities, GmshMesh& out);

} // namespace ossatura
