// The program is built once for every MPI library: bin/isobar and, if there are two, bin/isobar-openmpi. If a launcher
// of the other library starts the wrong program, the right one, in the same folder, takes over.
#pragma once

namespace isobar::cli {

/// Replaces this process with the other program if the launcher needs that one; otherwise returns.
void become_sibling_if_needed(char** argv);

}  // namespace isobar::cli
