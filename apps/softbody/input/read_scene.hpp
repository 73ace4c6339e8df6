// SPDX-License-Identifier: Apache-2.0
// read_scene reads scenes from JSON; docs/softbody.md has the keys.
#pragma once

#include "apps/softbody/input/scene_document.hpp"

namespace ossatura {

class JsonPlace;

/// Reads the file at `path`; meshes named there are looked for beside it and not opened yet. Throws
/// InputError naming the file, the place in it and the remedy: for text that is not JSON, unknown
/// and missing keys, wrong types and numbers out of range.
SceneDocument read_scene(const std::string& path);

/// Those parts of it that stand in files of their own.
ObjectChoice read_object(const JsonPlace& place, const std::string& directory);
void read_solver(const JsonPlace& place, SoftOptions& options);

/// "sync", "every:K" or "background" into the two members of `options` it is kept in. Throws
/// std::invalid_argument.
void parse_refresh(const std::string& text, SoftOptions& options);
std::string refresh_text(const SoftOptions& options);

} // namespace ossatura
