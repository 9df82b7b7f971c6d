// Crashes: a process that dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT leaves a post-mortem report first, with
// its stack, and then dies by the signal as it would have. Everything the handler touches is prepared in advance.
#pragma once

#include <filesystem>
#include <string>

namespace isobar::post_mortem {

/// Installs the handlers, with a separate stack for the calling thread. Call it after starting the message library,
/// which installs its own handlers; `rank` is the number in the world of all ranks that were started.
void catch_crashes(int rank);

/// Sets the run folder for reports from now on. Without one, or if it cannot be written, they go to standard error.
void set_post_mortem_folder(const std::filesystem::path& run_folder);

/// Writes the report of a rank that ends by an exception; without a folder nothing is written.
void report_failure(const std::string& message);

}  // namespace isobar::post_mortem
