// SPDX-License-Identifier: Apache-2.0
// A deck of another program does not say what its units are.
#pragma once

#include <string>

namespace ossatura {

/// Logs `odd-modulus` where Young's modulus of a deck, in Pa by the unit of length that was said,
/// is what steel or plastic have in MPa; 0: the deck has none.
void warn_of_deck_units(const std::string& file, double young);

} // namespace ossatura
