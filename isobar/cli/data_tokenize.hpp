// The subcommand `isobar data tokenize`.
#pragma once

#include <CLI/CLI.hpp>

namespace isobar::cli {

/// Declares it on the verb `data`.
void declare_tokenize(CLI::App& data);

}  // namespace isobar::cli
