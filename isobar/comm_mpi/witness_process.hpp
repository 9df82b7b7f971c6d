// The witness: a process of its own on every node that holds a socket to each rank there. When a rank dies, by a signal
// or a crash, the kernel closes its socket: the witness tells the user which rank that was and what it was doing, and
// tells the other ranks. It must be another process, in a session of its own, because launchers such as MPICH's
// end all ranks as soon as one has died. It ends by itself when all ranks have gone.
#pragma once

#include <cstdint>

namespace isobar::comm_mpi {

/// Where ranks note what they do, one slot each, so that a note costs no call of the system.
struct Notes {
  static constexpr int slots = 4096, length = 240;
  char text[slots][length];
};

/// What ranks and witness tell each other over the socket, one packet each.
struct WitnessWord {
  enum class Kind : std::int32_t { hello, failing, goodbye, death } kind{};
  std::int32_t rank = 0;  // who says it, or who died
  std::int32_t slot = 0;  // of notes
  char text[480] = {};
};

/// The life of the witness: `listener` accepts ranks, `tell` is where the user reads. Returns when all ranks have gone.
/// Uses no memory of its own and no lock, because it begins in a fork of a process with threads.
void bear_witness(int listener, int tell, const Notes& notes);

}  // namespace isobar::comm_mpi
