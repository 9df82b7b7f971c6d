// Versions: what this program was built with and runs with; libraries are queried at run time, because a site may have
// other versions than the machine that compiled the program.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isobar::machine {

/// The version of this program, "0.1.0", and how it was built: "Release, -march=x86-64-v3, sanitizers: none".
std::string program_version();
std::string program_build();

/// Name and version of each component, the build itself first.
std::vector<std::pair<std::string, std::string>> versions();

/// Whether the compiler optimised this program.
bool optimised_build();

}  // namespace isobar::machine
