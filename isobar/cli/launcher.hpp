// How this program starts itself on several ranks: with the launcher of the MPI it was built with.
#pragma once

#include <string>
#include <vector>

namespace isobar::cli {

/// The words that start a program on so many ranks of this machine: "mpiexec.mpich -n 2". `launcher`, when given,
/// replaces them: "srun -n {}", where {} stands for the number of ranks.
std::vector<std::string> launch_words(int ranks, const std::string& launcher = "");

/// The path of the program that is running.
std::string this_program();

/// Runs a command, waits for it, and returns how it ended: its exit code, or 128 and the signal that ended it. What it
/// prints goes where ours goes. When this program is told to stop, the command is told too.
int run_command(const std::vector<std::string>& words);

}  // namespace isobar::cli
