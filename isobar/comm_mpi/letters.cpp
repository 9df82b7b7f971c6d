#include "isobar/comm_mpi/letters.hpp"

#include <cstring>

namespace isobar::comm_mpi {
namespace {

constexpr std::chrono::seconds patience_with_mpi(1);  // a thread may be inside a blocking MPI call
// Small enough for any library to send at once, whether or not the receiver is ready.
constexpr std::size_t longest_text = 2000;
constexpr std::size_t head = 3 * sizeof(std::int32_t);

}  // namespace

Letters::Letters(MPI_Comm communicator, MpiGate& mpi) : communicator_(communicator), mpi_(mpi) {
  MPI_Comm_rank(communicator, &rank_);
  MPI_Comm_size(communicator, &size_);
}

std::vector<Letter> Letters::collect() {
  std::vector<Letter> letters;
  const auto lock = mpi_.try_enter();
  if (!lock) return letters;
  for (;;) {
    int there = 0, count = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, 0, communicator_, &there, &status) != MPI_SUCCESS || !there) break;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<char> bytes(count);
    if (MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, 0, communicator_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      break;
    if (bytes.size() < head) continue;
    std::int32_t numbers[3];
    std::memcpy(numbers, bytes.data(), head);
    letters.push_back({static_cast<Letter::Word>(numbers[0]), numbers[1], numbers[2],
                       std::string(bytes.begin() + head, bytes.end()), status.MPI_SOURCE});
  }
  std::erase_if(outbox_, [](Sending& sending) {
    int done = 0;
    return MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  });
  return letters;
}

void Letters::post(int to, const Letter& letter) {
  const auto lock = mpi_.try_enter(patience_with_mpi);
  if (!lock) return;
  Sending& sending = outbox_.emplace_back();
  const std::int32_t numbers[] = {static_cast<std::int32_t>(letter.word), letter.number, letter.flag};
  const std::string text = letter.text.substr(0, longest_text);
  sending.bytes.resize(head + text.size());
  std::memcpy(sending.bytes.data(), numbers, head);
  std::memcpy(sending.bytes.data() + head, text.data(), text.size());
  // A rank that cannot be reached is not notified: it has failed itself.
  if (MPI_Isend(sending.bytes.data(), std::ssize(sending.bytes), MPI_BYTE, to, 0, communicator_, &sending.request) !=
      MPI_SUCCESS)
    outbox_.pop_back();
}

bool Letters::all_sent() {
  if (!works()) return true;
  const auto lock = mpi_.try_enter();
  return lock && outbox_.empty();
}

}  // namespace isobar::comm_mpi
