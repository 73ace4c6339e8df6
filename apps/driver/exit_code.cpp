// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/exit_code.hpp"

#include "apps/driver/process_start.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/together.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <iostream>
#include <string>

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

int report(int code, const char* kind, const char* what) {
  if (num_ranks == 1 || (failed_together() && reporting_rank == 0))
    std::cerr << "ossatura: " << kind << ": " << what << std::endl;
  else if (!failed_together()) // nobody else knows
    std::cerr << "ossatura: " << kind << ": rank " << reporting_rank << " of " << num_ranks << ": "
              << what << std::endl;
  return code;
}

} // namespace

void set_reporting_rank(int rank, int size) {
  reporting_rank = rank;
  num_ranks = size;
}

int report_current_exception() {
  try {
    throw;
  } catch (const UsageError& error) {
    return report(exit_usage, "usage error", error.what());
  } catch (const BackendError& error) {
    return report(exit_unavailable, "error", error.what());
  } catch (const InputError& error) {
    if (const char* failure = device_failure()) // what was found wrong may be its doing
      return report(exit_unavailable, "error: the device failed",
                    (failure + ("; after that: " + std::string(error.what()))).c_str());
    return report(exit_bad_file, "error", error.what());
  } catch (const std::exception& error) {
    if (is_out_of_memory(error))
      return report(exit_unavailable, "out of memory",
                    (error.what() + std::string(memory_limit())).c_str());
    if (is_device_failure(error))
      return report(exit_unavailable, "error: the device failed", error.what());
    return report(exit_internal, "internal error", error.what());
  } catch (...) {
    return report(exit_internal, "internal error", "an exception of unknown type");
  }
}

} // namespace ossatura
