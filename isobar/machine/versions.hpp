// Versions: what this program was made with and runs with; the libraries are asked while running, since a site may have
// others than the one that compiled it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isobar::machine {

/// Of this program: "0.1.0", and how it was built: "Release, -march=x86-64-v3, sanitizers: none".
std::string program_version();
std::string program_build();

/// Name and version of each, the build itself first.
std::vector<std::pair<std::string, std::string>> versions();

/// Whether the compiler optimised this program.
bool optimised_build();

}  // namespace isobar::machine
