// How this program starts itself on several ranks: with the launcher of the MPI library it was built with.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace isobar::cli {

/// The words that start a program on `ranks` ranks of this machine: "mpiexec.mpich -n 2". `launcher`, if given,
/// replaces them: "srun -n {}", where {} stands for the number of ranks.
std::vector<std::string> launch_words(int ranks, const std::string& launcher = "");

/// The path of the program that is running.
std::string this_program();

/// A command that this program runs in the background of its own work.
struct ChildCommand {
  std::vector<std::string> words{};
  std::filesystem::path output{};                                  ///< a file for all it prints; empty: our output
  std::function<void()> meanwhile{};                               ///< called many times a second while it runs
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to ours
};
struct ChildEnd {
  int code = 0;           ///< its exit code, or 128 plus the signal that ended it
  double peak_bytes = 0;  ///< the most memory that it, or one of the processes it waited for, had
};

/// Runs a command to its end. When this program is asked to stop, so is the command, once; it does not hear a
/// terminal's Ctrl-C by itself. If this program is killed, it is asked to end.
ChildEnd run_child(const ChildCommand& child);

}  // namespace isobar::cli
