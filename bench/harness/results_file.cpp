// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/results_file.hpp"

#include "bench/harness/outcome.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>

#include <iostream>

namespace ossatura::bench {

namespace {

constexpr double seconds_between_writes = 2;

} // namespace

ResultsFile::ResultsFile(const std::string& path, std::size_t planned)
    : path_(path)
    , planned_(planned) {
  json_.SetOutputStream(&text_);
  json_.SetErrorStream(&std::cerr);
}

bool ResultsFile::ReportContext(const Context& context) {
  json_.ReportContext(context);
  write("running");
  return true;
}

void ResultsFile::ReportRuns(const std::vector<Run>& runs) {
  if (runs.empty() || outcomes().left_out.count(runs[0].run_name.function_name) != 0)
    return;
  json_.ReportRuns(runs);
  if (runs[0].run_type == Run::RT_Aggregate)
    return; // of the row before
  ++done_;
  if (since_written_.seconds() > seconds_between_writes)
    write("running");
}

void ResultsFile::write(const char* status) {
  std::ostringstream end; // what the library closes a file with
  json_.SetOutputStream(&end);
  json_.Finalize();
  json_.SetOutputStream(&text_);
  std::string text = text_.str() + end.str();
  text.erase(text.rfind('}'));
  text.erase(text.find_last_not_of(" \n") + 1);
  std::ostringstream rest;
  rest << ",\n  \"rows\": {\"planned\": " << planned_ << ", \"done\": " << done_ << "},\n"
       << "  \"status\": \"" << status << "\"\n}\n";
  write_file(path_, text + rest.str());
  since_written_ = Stopwatch();
}

} // namespace ossatura::bench
