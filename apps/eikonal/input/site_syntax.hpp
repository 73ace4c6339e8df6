// SPDX-License-Identifier: Apache-2.0
// This file parses where and when waves start: --site and the files of --sites.
#pragma once

#include <ossatura/solvers/eikonal/sites.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// PLACE[@t=MS], at 0 ms where no time is given, which may be before that:
///   vertices:1,2,3             numbers of vertices, from 0
///   vtx:FILE                   an openCARP list of vertices
///   point:X,Y,Z                the vertex nearest to a point, mm
///   sphere:X,Y,Z,RADIUS        all vertices inside
///   box:X,Y,Z,X,Y,Z            all vertices between two corners
/// Throws std::invalid_argument.
SiteChoice parse_site(const std::string& text);

/// Reads a JSON file: a list of SPECs, which is one set, or an object of such lists, a set by name.
/// Files are looked for beside it. Throws InputError naming the file, the set and the site.
std::vector<SiteSet> read_site_sets(const std::string& path);

} // namespace ossatura
