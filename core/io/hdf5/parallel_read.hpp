// SPDX-License-Identifier: Apache-2.0
// Values of an HDF5 dataset are read by all threads where the library, which has one, is only asked
// where they lie: plain ones straight from the file, those of chunks after the library gave the
// bytes of some, which are inflated side by side.
#pragma once

#include <ossatura/core/io/hdf5/file.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Rows [first, first + rows) of the first extent, as Hdf5Dataset::read_rows, from a file that was
/// opened for reading; of float, double, std::uint8_t, std::int32_t or std::int64_t. By all threads
/// where that is the type of the file (Hdf5Dataset::holds), plain or in chunks behind shuffle and
/// deflate; else by the library. Chunks are inflated as a whole, those of a batch at a time: 64 of
/// them and their bytes are kept. Throws InputError where the file is damaged, BackendError where
/// the rows do not fit in memory.
template<class T>
std::vector<T> read_rows_by_threads(const Hdf5Dataset& dataset, std::uint64_t first,
                                    std::uint64_t rows);

/// Calls of the library alone what read_rows_by_threads calls of it: what may crash on a damaged
/// file does so here (require_survivable_read()).
template<class T>
void try_rows_by_threads(const Hdf5Dataset& dataset, std::uint64_t first, std::uint64_t rows);

} // namespace ossatura
