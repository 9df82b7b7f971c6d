// The program exists once for every MPI library: bin/isobar and, where both are, bin/isobar-openmpi. A launcher of the
// other library started the wrong one: then the right one, which lies beside it, takes over.
#pragma once

namespace isobar::cli {

/// Replaces this process by the program that the launcher needs, if it is the other one; else returns.
void become_sibling_if_needed(char** argv);

}  // namespace isobar::cli
