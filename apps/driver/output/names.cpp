// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/names.hpp"

#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t largest_summary = std::uint64_t(1) << 26; // bytes

/// Where the extension begins, or npos; a point at the front is part of the name.
std::size_t extension_of(const std::string& name) {
  const std::size_t point = name.rfind('.');
  if (point == std::string::npos || point == 0)
    return std::string::npos;
  const bool digits =
      point + 1 < name.size() && std::all_of(name.begin() + std::ptrdiff_t(point) + 1, name.end(),
                                             [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? std::string::npos : point;
}

bool is_outer_extension(std::string extension) {
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  for (const char* known : {".gz", ".bz2", ".xz", ".zst", ".series"})
    if (extension == known)
      return true;
  return false;
}

std::string absolute_name(const std::string& path) {
  std::error_code error;
  const std::filesystem::path name =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : name.string();
}

/// What the schemas of all summaries begin with.
const std::string schema_prefix = "ossatura/";

std::string text_of(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) && json[name].is_string()
             ? json[name].get<std::string>()
             : "";
}

/// The JSON of the file at `path`, discarded where it is none; nothing where there is no file of a
/// summary's size.
std::optional<Json> read_summary(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) == 0 || error ||
      std::filesystem::file_size(path, error) > largest_summary)
    return {};
  const std::vector<unsigned char> text = read_all(path, largest_summary);
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

bool is_summary(const std::string& schema) {
  return schema.compare(0, schema_prefix.size(), schema_prefix) == 0;
}

} // namespace

std::string file_stem(const std::string& input) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::is_directory(input, none)) { // also "scan/" and ".."
    const fs::path folder = fs::absolute(input, none).lexically_normal();
    return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  }
  std::string name = fs::path(input).filename().string();
  std::size_t point = extension_of(name);
  const bool twice = point != std::string::npos && is_outer_extension(name.substr(point));
  name = name.substr(0, point);
  if (twice)
    name = name.substr(0, extension_of(name));
  return name;
}

std::string folder_name(const std::string& input) {
  std::error_code none;
  std::filesystem::path path = std::filesystem::absolute(input, none).lexically_normal();
  if (!path.has_filename()) // "scan/"
    path = path.parent_path();
  return path.parent_path().filename().string();
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  if (::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0)
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  return absolute_name(a) == absolute_name(b);
}

void remove_same_files(std::vector<std::string>& files, const std::vector<std::string>& others) {
  std::set<std::string> names;
  for (const std::string& other : others)
    names.insert(absolute_name(other));
  const auto is_other = [&names](const std::string& file) {
    return names.count(absolute_name(file)) > 0;
  };
  files.erase(std::remove_if(files.begin(), files.end(), is_other), files.end());
}

void require_own_summary(const std::string& path, const std::string& subcommand,
                         const Provenance& provenance, const std::string& resumed) {
  const std::optional<Json> found = read_summary(path);
  if (!found)
    return;
  const Json& json = *found;
  const std::string schema = text_at(json, "/schema");
  const char* const remedy =
      ", and would be replaced: choose another --output-dir, or replace it with --overwrite";
  if (!is_summary(schema))
    fail<UsageError>(path, ": is no summary of ossatura", remedy);
  const std::size_t begin = schema_prefix.size();
  const std::string other = schema.substr(begin, schema.rfind('/') - begin);
  if (other != subcommand)
    fail<UsageError>(path, ": is of ossatura ", other, remedy);

  const Json::json_pointer place("/provenance/inputs");
  if (json.contains(place) && !json[place].is_array())
    return;
  std::vector<Json> inputs;
  for (const Json& input : json.contains(place) ? json[place] : Json::array())
    if (text_of(input, "path") != text_at(json, "/parameters/resume"))
      inputs.push_back(input);
  std::vector<FileRecord> ours;
  for (const FileRecord& input : provenance.inputs)
    if (input.path != resumed)
      ours.push_back(input);
  if (inputs.empty() && ours.empty())
    return; // generated, like this one
  if (inputs.empty() || ours.empty())
    fail<UsageError>(path, ": is of ",
                     inputs.empty() ? "a generated model" : "'" + text_of(inputs[0], "path") + "'",
                     remedy);
  const std::string was = text_of(inputs[0], "path");
  const std::filesystem::path there =
      std::filesystem::path(text_at(json, "/provenance/directory")) / was;
  if (is_same_file(there.string(), ours[0].path))
    return;
  bool same_content = inputs.size() == ours.size();
  for (std::size_t i = 0; same_content && i < inputs.size(); ++i)
    same_content = !ours[i].xxh64.empty() && // a cohort's are not read yet
                   text_of(inputs[i], "xxh64") == ours[i].xxh64;
  if (!same_content)
    fail<UsageError>(path, ": is of another input, '", there.string(), "'", remedy);
}

void require_no_results(const std::string& path) {
  const std::optional<Json> json = read_summary(path);
  if (json && is_summary(text_at(*json, "/schema")) && text_at(*json, "/status") != "dry run")
    fail<UsageError>(path, ": is the summary of a run, and would be replaced by that of a dry run: "
                           "choose another name");
}

std::vector<std::string> files_of_summary(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  const std::optional<Json> json = read_summary(path);
  const Json::json_pointer place("/certificate/files");
  if (!json || !is_summary(text_at(*json, "/schema")) || !json->contains(place) ||
      !json->at(place).is_array())
    return files;
  for (const Json& entry : json->at(place)) {
    const fs::path name = text_of(entry, "file");
    const fs::path file = fs::path(path).parent_path() / name;
    std::error_code error;
    if (!name.empty() && name.is_relative() && fs::is_regular_file(file, error))
      files.push_back(file.string());
  }
  return files;
}

OutputLock::OutputLock(const std::string& directory, const std::string& stem)
    : path_((std::filesystem::path(directory) / ("." + stem.substr(0, 200) + ".lock")).string()) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    descriptor_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor_ < 0)
      return; // what cannot be written here says so itself
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      ::close(descriptor_);
      descriptor_ = -1;
      if (taken)
        fail<UsageError>("another run writes results named '", stem, "' into '", directory,
                         "': wait for its end, or choose another --output-dir");
      ::unlink(path_.c_str()); // of no use
      return;
    }
    // The one before may have removed the file between our two calls.
    struct stat ours {
    }, present{};
    if (::fstat(descriptor_, &ours) == 0 && ::stat(path_.c_str(), &present) == 0 &&
        ours.st_ino == present.st_ino && ours.st_dev == present.st_dev) {
      remember_temporary_file(path_);
      return;
    }
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

OutputLock::~OutputLock() {
  if (descriptor_ < 0)
    return;
  ::unlink(path_.c_str());
  forget_temporary_file(path_);
  ::close(descriptor_);
}

} // namespace ossatura
