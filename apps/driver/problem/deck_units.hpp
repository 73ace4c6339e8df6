// SPDX-License-Identifier: Apache-2.0
// Meshes and decks of other programs do not say what their units are.
#pragma once

#include <ossatura/core/mesh/box.hpp>

#include <string>

namespace ossatura {

/// Logs `odd-modulus` where Young's modulus of a deck, in Pa by the unit of length that was said,
/// is what steel or plastic have in MPa; 0: the deck has none.
void warn_of_deck_units(const std::string& file, double young);

/// Logs `odd-size` where a body of a file that was taken to be in m is so long that it is hardly,
/// unless its modulus (Pa) stands for a unit.
void warn_of_mesh_unit(const std::string& file, const Box& body, double young);

} // namespace ossatura
