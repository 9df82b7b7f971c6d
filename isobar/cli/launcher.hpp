// How this program starts itself on several ranks: with the launcher of the MPI library it was built with.
#pragma once

#include <string>
#include <vector>

namespace isobar::cli {

/// The words that start a program on `ranks` ranks of this machine: "mpiexec.mpich -n 2". `launcher`, if given,
/// replaces them: "srun -n {}", where {} stands for the number of ranks.
std::vector<std::string> launch_words(int ranks, const std::string& launcher = "");

/// The path of the program that is running.
std::string this_program();

/// Runs a command, waits for it, and returns its exit code, or 128 plus the signal that ended it. It prints to our
/// output. When this program is asked to stop, so is the command.
int run_command(const std::vector<std::string>& words);

}  // namespace isobar::cli
