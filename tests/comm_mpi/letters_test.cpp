#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

TEST(Letters, a_long_text_is_cut_so_that_it_can_be_sent_at_once) {
  Comm& comm = ranks();
  const std::string mine(3000, static_cast<char>('a' + comm.rank()));
  comm.note(mine);
  barrier(comm);
  const auto all = comm.whereabouts(30);
  for (int rank = 0; rank < comm.size(); ++rank)
    EXPECT_EQ(all[rank], rank == comm.rank() ? mine : std::string(2000, static_cast<char>('a' + rank)));
  barrier(comm);
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
