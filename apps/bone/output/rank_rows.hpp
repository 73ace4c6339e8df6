// SPDX-License-Identifier: Apache-2.0
// Rank rows write the arrays of all ranks as fields of one file: each rank compresses the rows that
// it has, and the first one writes.
#pragma once

#include <ossatura/core/io/hdf5/field.hpp>
#include <ossatura/kernels/algebra/ranks/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ossatura {

/// The rows of fields that this process has, and the number of the first one among those of all.
template<class Exec>
struct RankRows {
  RankBlocks<Exec>& blocks;
  std::uint64_t first;
};

namespace detail {

inline MadeBlock made_of(Hdf5FieldBlock block) {
  MadeBlock made;
  made.numbers = {block.rows.rows_before, block.rows.rows_behind, std::uint64_t(block.all_finite)};
  made.numbers.insert(made.numbers.end(), block.rows.chunk_bytes.begin(),
                      block.rows.chunk_bytes.end());
  made.bytes = std::move(block.rows.bytes);
  return made;
}

inline Hdf5FieldBlock block_of(MadeBlock& made) {
  Hdf5FieldBlock block;
  block.rows.rows_before = made.numbers.at(0);
  block.rows.rows_behind = made.numbers.at(1);
  block.all_finite = made.numbers.at(2) != 0;
  block.rows.chunk_bytes.assign(made.numbers.begin() + 3, made.numbers.end());
  block.rows.bytes = std::move(made.bytes);
  return block;
}

} // namespace detail

/// append_block(field, values, count) for the rows of the arrays [count, columns] of all ranks,
/// block by block. The first rank writes; make_field() is called by it alone. The others compress
/// theirs: `field` is a Hdf5Field or a Hdf5FieldPart.
template<class T, class Exec, class MakeField, class AppendBlock>
void append_blocks(const RankRows<Exec>& rows, const Array<T, Exec>& array, std::size_t columns,
                   const MakeField& make_field, const AppendBlock& append_block) {
  RankBlocks<Exec>& blocks = rows.blocks;
  std::optional<Hdf5Field> field;
  const Hdf5ChunkLayout layout = blocks.tell([&] {
    field.emplace(make_field());
    return field->layout();
  });
  if (field) {
    blocks.for_own(array, columns, [&](const T* values, std::size_t count) {
      append_block(*field, values, count);
    });
    blocks.take_others([&](MadeBlock& block) { field->append(detail::block_of(block)); });
    return;
  }
  Hdf5FieldPart part(layout, rows.first);
  blocks.for_own(array, columns, [&](const T* values, std::size_t count) {
    append_block(part, values, count);
    if (part.bytes() >= blocks.block_bytes)
      blocks.hand_over(detail::made_of(part.take()));
  });
  blocks.hand_over(detail::made_of(part.take_last()));
  blocks.hand_over({});
}

/// The same with a row of the field for each: `convert(values, first, count, to)` makes rows first
/// to first + count of those of a block, whose entries are `values`.
template<class To, class From, class Exec, class MakeField, class Convert>
void append_converted(const RankRows<Exec>& rows, const Array<From, Exec>& array,
                      std::size_t columns, const MakeField& make_field, const Convert& convert) {
  append_blocks(rows, array, columns, make_field,
                [&](auto& field, const From* values, std::size_t num_rows) {
                  field.template append_made<To>(
                      num_rows, [&](std::uint64_t first, std::uint64_t count, To* to) {
                        convert(values, std::size_t(first), std::size_t(count), to);
                      });
                });
}

/// The values as they are.
template<class T, class Exec, class MakeField>
void append_values(const RankRows<Exec>& rows, const Array<T, Exec>& array, std::size_t columns,
                   const MakeField& make_field) {
  append_blocks(rows, array, columns, make_field,
                [&](auto& field, const T* values, std::size_t count) {
                  field.append(ConstSpan<T>(values, columns * count));
                });
}

} // namespace ossatura
