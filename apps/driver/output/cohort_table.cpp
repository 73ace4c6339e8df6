// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/cohort_table.hpp"

#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>

#include <algorithm>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

Json value_of(const MemberRecord& record, const CohortColumn& column) {
  return record.values.is_object() ? record.values.value(column.name, Json()) : Json();
}

bool has_values(const std::vector<MemberRecord>& records, const CohortColumn& column) {
  return std::any_of(records.begin(), records.end(), [&](const MemberRecord& record) {
    return !value_of(record, column).is_null();
  });
}

/// A field of a line of CSV. What a damaged file has in an error need not be UTF-8, which all of
/// the table is.
std::string csv_field(const std::string& given) {
  const std::string text = Json::parse(json_text(Json(given))).get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_field(const Json& value) {
  return value.is_null() ? ""
                         : csv_field(value.is_string() ? value.get<std::string>() //
                                                       : json_text(value));
}

std::string shown(const CohortColumn& column, const Json& value) {
  const std::string bytes = "_bytes";
  if (value.is_number() && column.name.size() > bytes.size() &&
      column.name.compare(column.name.size() - bytes.size(), bytes.size(), bytes) == 0)
    return format_bytes(value.get<double>());
  if (value.is_number_integer())
    return format_count(value.get<std::int64_t>());
  if (value.is_number())
    return format_number(value.get<double>(), 5);
  return value.is_string() ? value.get<std::string>() : "";
}

} // namespace

void MemberRecord::take(const Json& summary, const std::vector<CohortColumn>& columns) {
  status = text_at(summary, "/status");
  xxh64 = text_at(summary, "/certificate/inputs/0/xxh64");
  for (const CohortColumn& column : columns) {
    const Json::json_pointer place(column.place);
    if (summary.contains(place) && !summary[place].is_null())
      values[column.name] = summary[place];
  }
}

Json to_json(const MemberRecord& record) {
  return {{"name", record.name},
          {"input", record.input},
          {"xxh64", record.xxh64},
          {"status", record.status},
          {"exit_code", record.exit_code},
          {"error", record.error.empty() ? Json() : Json(record.error)},
          {"was_complete", record.was_complete},
          {"seconds", record.seconds},
          {"values", record.values}};
}

MemberRecord record_of(const Json& json) {
  MemberRecord record(text_at(json, "/name"), text_at(json, "/input"));
  record.status = text_at(json, "/status");
  record.xxh64 = text_at(json, "/xxh64");
  record.exit_code = json["exit_code"];
  record.error = text_at(json, "/error");
  record.was_complete = json["was_complete"];
  record.seconds = json["seconds"];
  record.values = json["values"];
  return record;
}

void write_cohort_csv(const std::string& path, const std::string& noun,
                      const std::vector<MemberRecord>& records,
                      const std::vector<CohortColumn>& columns) {
  std::string text = noun + ",input,status,exit_code";
  std::vector<CohortColumn> used;
  for (const CohortColumn& column : columns)
    if (has_values(records, column)) {
      text += ',' + column.name;
      used.push_back(column);
    }
  text += ",error\n";
  for (const MemberRecord& record : records) {
    text += csv_field(record.name) + ',' + csv_field(record.input) + ',' + record.status + ',' +
            std::to_string(record.exit_code);
    for (const CohortColumn& column : used)
      text += ',' + csv_field(value_of(record, column));
    text += ',' + csv_field(record.error) + '\n';
  }
  write_file(path, text);
}

std::string cohort_text(const std::string& noun, const std::vector<MemberRecord>& records,
                        const std::vector<CohortColumn>& columns) {
  std::vector<std::string> heads = {"", "status"};
  std::vector<CohortColumn> used;
  for (const CohortColumn& column : columns)
    if (!column.head.empty() && has_values(records, column)) {
      heads.push_back(column.head);
      used.push_back(column);
    }
  std::vector<std::vector<std::string>> rows;
  for (const MemberRecord& record : records) {
    rows.push_back({record.name, record.status});
    for (const CohortColumn& column : used)
      rows.back().push_back(shown(column, value_of(record, column)));
  }
  Table table;
  table.section(counted(std::int64_t(records.size()), noun));
  table.columns(heads, rows);
  return table.text();
}

} // namespace ossatura
