// SPDX-License-Identifier: Apache-2.0
// The inverse choice picks storage and bands of the inverse factor where the user leaves them
// automatic.
#pragma once

#include <ossatura/kernels/factor/inverse_bands.hpp>
#include <ossatura/solvers/softbody/options.hpp>

namespace ossatura {

/// Replaces `automatic` by a choice, on devices and on cores.
inline FactorStorage resolve_storage(const SoftOptions& options, bool is_device) {
  if (options.storage != FactorStorage::automatic)
    return options.storage;
  return is_device && options.refresh != FactorRefresh::sync ? FactorStorage::fp16
                                                             : FactorStorage::fp32;
}

/// Of an entry; `storage` is not automatic.
inline int bytes_of(FactorStorage storage) {
  return storage == FactorStorage::fp64 ? 8 : storage == FactorStorage::fp32 ? 4 : 2;
}

/// Where the preconditioner's inverse is. Contact is solved with all of W: as long as the bands are
/// not given there is one, for both.
inline InverseLayout choose_inverse(const FactorPattern& pattern, const SoftOptions& options,
                                    bool is_device, bool has_contact) {
  const int bands = has_contact && options.bands == 0 ? 1 : options.bands;
  return choose_inverse_layout(pattern, bands, bytes_of(resolve_storage(options, is_device)),
                               inverse_cost(is_device));
}

} // namespace ossatura
