#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

TEST(LetterService, TellsWhatTheOthersAreDoing) {
  Comm& comm = ranks();
  comm.note(fmt::format("rank {} knits", comm.rank()));
  barrier(comm);
  const auto all = comm.whereabouts(30);
  for (int rank = 0; rank < comm.size(); ++rank)
    EXPECT_EQ(all[static_cast<std::size_t>(rank)], fmt::format("rank {} knits", rank));
  barrier(comm);
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
