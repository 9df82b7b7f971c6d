// Crashes: a process that dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT leaves a post-mortem report first, with
// its stack, and then dies by the signal as it would have. Everything its handler touches is prepared before.
#pragma once

#include <filesystem>
#include <string>

namespace isobar::post_mortem {

/// Sets the handlers, and a stack of their own for the calling thread. Called after the message library was started,
/// which brings handlers of its own; `rank` is the number in the world of all that were started.
void catch_crashes(int rank);

/// The run folder reports go to from now on. Without one, or where it cannot be written, they go to standard error.
void set_post_mortem_folder(const std::filesystem::path& run_folder);

/// Writes the report of a rank that ends by an exception; without a folder there is none.
void report_failure(const std::string& message);

}  // namespace isobar::post_mortem
