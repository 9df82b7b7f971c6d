// The witness: a separate process on every node that holds a socket to each rank there. When a rank dies, by a signal
// or a crash, the kernel closes its socket: the witness tells the user which rank that was and what it was doing, and
// notifies the other ranks. It must be a separate process, in its own session, because launchers such as MPICH's
// end all ranks as soon as one has died. It ends by itself when all ranks have gone.
#pragma once

#include <cstdint>

namespace isobar::comm_mpi {

/// Where ranks note what they are doing, one slot each, so that a note costs no system call.
struct Notes {
  static constexpr int slots = 4096, length = 240;
  char text[slots][length];
};

/// A message between a rank and the witness, one packet on the socket.
struct WitnessWord {
  enum class Kind : std::int32_t { hello, failing, goodbye, death } kind{};
  std::int32_t rank = 0;  // the sender, or the rank that died
  std::int32_t slot = 0;  // of notes
  char text[480] = {};
};

/// Runs the witness: `listener` accepts ranks, `tell` is where the user reads. Returns when all ranks have gone.
/// Neither allocates nor locks, because it runs in a fork of a process with threads.
void bear_witness(int listener, int tell, const Notes& notes);

}  // namespace isobar::comm_mpi
