// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/certificate.hpp"

#include "apps/driver/output/table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

std::string bound_text(const ResultCheck& check) {
  return format_number(check.value, 3) + ", at most " + format_number(check.bound, 3) + " may be";
}

std::string name_below(const std::string& folder, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::absolute(path, error).lexically_normal();
  const fs::path name = file.lexically_relative(
      fs::absolute(folder.empty() ? "." : folder, error).lexically_normal());
  return error || name.empty() || *name.begin() == ".." ? path : name.string();
}

Json to_json(const FileRecord& file, const std::string& name) {
  return {{"file", name}, {"bytes", file.bytes}, {"xxh64", file.xxh64}};
}

} // namespace

Json to_json(const Certificate& certificate, const std::vector<FileRecord>& inputs,
             const std::vector<FileRecord>& outputs, const std::string& folder) {
  Json json = {{"tolerance", certificate.tolerance ? Json(*certificate.tolerance) : Json()},
               {"passed", all_passed(certificate.checks)},
               {"checks", Json::array()},
               {"inputs", Json::array()},
               {"files", Json::array()}};
  for (const ResultCheck& check : certificate.checks)
    json["checks"].push_back({{"name", check.name},
                              {"value", check.value},
                              {"bound", check.bound},
                              {"passed", check.passed()}});
  for (const FileRecord& input : inputs)
    json["inputs"].push_back(to_json(input, input.path));
  for (const FileRecord& output : outputs)
    json["files"].push_back(to_json(output, name_below(folder, output.path)));
  return json;
}

std::string certificate_text(const Certificate& certificate) {
  Table table;
  table.section("Certificate");
  std::int64_t num_passed = 0;
  for (const ResultCheck& check : certificate.checks)
    num_passed += check.passed();
  table.row("checks", counted(num_passed, "check") + " passed");
  for (const ResultCheck& check : certificate.checks)
    if (!check.passed())
      table.row(check.name, bound_text(check) + "  FAILED");
  return table.text();
}

std::string failed_checks(const Certificate& certificate) {
  std::string text;
  for (const ResultCheck& check : certificate.checks)
    if (!check.passed())
      text += (text.empty() ? "" : "; ") + check.name + " is " + bound_text(check);
  return text;
}

} // namespace ossatura
