// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/exit_code.hpp"

#include "apps/driver/process_start.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/together.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <cctype>
#include <iostream>
#include <string>
#include <utility>

namespace ossatura {

const char* exit_code_help() {
  return "Exit codes:\n"
         "  0   done and converged\n"
         "  1   internal error\n"
         "  2   usage error\n"
         "  3   finished but not converged; results are written and say so\n"
         "  4   backend or device unavailable or failed, or out of memory\n"
         "  5   unreadable or invalid input, or unwritable output\n"
         "  75  stopped by SIGINT or SIGTERM; what was computed until then is written\n";
}

namespace {

int reporting_rank = 0, num_ranks = 1;
std::vector<OptionOrigin> option_origins;

/// Whether a message has the option, not one whose name only begins alike.
bool names_option(const std::string& message, const std::string& option) {
  for (std::size_t at = message.find(option); at != std::string::npos;
       at = message.find(option, at + 1)) {
    const std::size_t end = at + option.size();
    if (end == message.size() ||
        (std::isalnum(static_cast<unsigned char>(message[end])) == 0 && message[end] != '-'))
      return true;
  }
  return false;
}

std::string with_origins(const std::string& message) {
  std::string origins;
  for (const OptionOrigin& one : option_origins)
    if (names_option(message, one.option))
      origins += (origins.empty() ? " (" : "; ") + one.option + " is set in " + one.place;
  return origins.empty() ? message : message + origins + ")";
}

} // namespace

void set_option_origins(std::vector<OptionOrigin> origins) {
  option_origins = std::move(origins);
}

void set_reporting_rank(int rank, int size) {
  reporting_rank = rank;
  num_ranks = size;
}

ExitReason describe_current_exception() {
  try {
    throw;
  } catch (const UsageError& error) {
    return {exit_usage, "usage error", with_origins(error.what())};
  } catch (const BackendError& error) {
    return {exit_unavailable, "error", error.what()};
  } catch (const InputError& error) {
    if (const char* failure = device_failure()) // what was found wrong may be its doing
      return {exit_unavailable, "error: the device failed",
              failure + ("; after that: " + std::string(error.what()))};
    return {exit_bad_file, "error", with_origins(error.what())};
  } catch (const std::exception& error) {
    if (is_out_of_memory(error))
      return {exit_unavailable, "out of memory",
              error.what() + std::string(memory_limit()) + memory_remedy};
    if (is_device_failure(error))
      return {exit_unavailable, "error: the device failed", error.what()};
    return {exit_internal, "internal error", error.what()};
  } catch (...) {
    return {exit_internal, "internal error", "an exception of unknown type"};
  }
}

int report_current_exception() {
  const ExitReason failure = describe_current_exception();
  if (num_ranks == 1 || (failed_together() && reporting_rank == 0))
    std::cerr << "ossatura: " << failure.kind << ": " << failure.what << std::endl;
  else if (!failed_together()) // nobody else knows
    std::cerr << "ossatura: " << failure.kind << ": rank " << reporting_rank << " of " << num_ranks
              << ": " << failure.what << std::endl;
  return failure.code;
}

} // namespace ossatura
