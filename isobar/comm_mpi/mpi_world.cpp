#include "isobar/comm_mpi/mpi_world.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "isobar/comm_mpi/letter_service.hpp"
#include "isobar/comm_mpi/lifeline_service.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr auto patience_with_finalize = std::chrono::seconds(5);

// Lets tests divide one host into several nodes.
int ranks_per_node() {
  const char* text = std::getenv("ISOBAR_RANKS_PER_NODE");
  if (!text) return 0;
  int ranks = 0;
  const char* end = text + std::strlen(text);
  if (const auto read = std::from_chars(text, end, ranks); read.ec != std::errc() || read.ptr != end || ranks < 1)
    fail("ISOBAR_RANKS_PER_NODE is '{}'; it must be a whole number of at least 1", text);
  return ranks;
}

MPI_Comm another_communicator() {
  MPI_Comm made = MPI_COMM_NULL;
  call(MPI_Comm_dup(MPI_COMM_WORLD, &made), "make a communicator");
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

std::vector<MPI_Comm> several_communicators(int count) {
  std::vector<MPI_Comm> list;
  while (std::ssize(list) < count) list.push_back(another_communicator());
  return list;
}

// Returns what the library allows threads.
std::string start_mpi() {
  int level = 0;
  // Not MPI_THREAD_MULTIPLE: one lock of ours costs less than the library's many.
  call(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "begin");
  if (level < MPI_THREAD_SERIALIZED) fail("the MPI library does not let several threads of a rank use it in turn");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return level == MPI_THREAD_SERIALIZED ? "serialized" : "multiple";
}

// Tests may allow fewer tags, as there are libraries with few.
int largest_tag() {
  if (std::getenv("ISOBAR_FEW_TAGS")) return (1 << 19) - 1;
  void* largest = nullptr;
  int known = 0;
  call(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &known), "tell its largest tag");
  return known ? *static_cast<int*>(largest) : 32767;
}

comm::Group find_ranks(Witness* witness) {
  comm::Group all;
  call(MPI_Comm_rank(MPI_COMM_WORLD, &all.rank), "tell this rank's number");
  call(MPI_Comm_size(MPI_COMM_WORLD, &all.size), "tell the number of ranks");
  MPI_Comm node = MPI_COMM_NULL;
  call(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "find the ranks of a node");
  int first = all.rank;
  call(MPI_Bcast(&first, 1, MPI_INT, 0, node), "find the ranks of a node");
  if (witness) witness->meet(node, all.rank);
  MPI_Comm_free(&node);
  std::vector<int> firsts(all.size);
  call(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD), "find the nodes");
  const int per_node = ranks_per_node();
  std::map<std::pair<int, int>, int> numbers;
  for (int rank = 0; rank < all.size; ++rank) {
    const std::pair<int, int> key(firsts[rank], per_node ? rank / per_node : 0);
    all.nodes.push_back(numbers.try_emplace(key, std::ssize(numbers)).first->second);
  }
  return all;
}

std::vector<std::string> find_hosts(int ranks) {
  constexpr int longest = 256;
  std::vector<char> names(longest * ranks);
  char mine[longest] = {};
  gethostname(mine, longest - 1);
  call(MPI_Allgather(mine, longest, MPI_CHAR, names.data(), longest, MPI_CHAR, MPI_COMM_WORLD), "find the hosts");
  std::vector<std::string> hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.emplace_back(names.data() + rank * longest);
  return hosts;
}

}  // namespace

MpiWorld::MpiWorld(std::unique_ptr<control::Lifeline> lifeline)
    : lifeline_(std::move(lifeline)),
      witness_(elastic() ? nullptr : std::make_unique<Witness>()),
      thread_level_(start_mpi()),
      all_(find_ranks(witness_.get())),
      hosts_(find_hosts(all_.size)),
      tags_(largest_tag()),
      messages_(several_communicators(tags_.communicators())),
      numbers_(tags_.groups(), tags_.epochs(), all_.size) {
  if (elastic()) {
    std::signal(SIGUSR1, SIG_IGN);  // which MPICH's launcher sends when a rank has died, even during MPI_Init
    service_ = std::make_unique<LifelineService>(*lifeline_, [this] {
      int there = 0;
      if (const auto lock = gate_.try_enter())
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, messages_[0], &there, MPI_STATUS_IGNORE);
    });
  } else {
    service_ = std::make_unique<LetterService>(another_communicator(), gate_, failure_, *witness_);
  }
}

MpiWorld::~MpiWorld() = default;

MpiGate::Lock MpiWorld::use_mpi() {
  auto lock = gate_.enter();
  if (gate_.is_open()) return lock;
  failure_.check();
  expects(false, "messages before the world has ended");
  return lock;
}

MPI_Comm MpiWorld::communicator(const std::vector<int>& members) {
  const auto lock = use_mpi();
  const auto known = communicators_.find(members);
  if (known != communicators_.end()) return known->second;
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  call(MPI_Comm_group(MPI_COMM_WORLD, &all), "list the ranks");
  call(MPI_Group_incl(all, std::ssize(members), members.data(), &some), "choose ranks");
  call(MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &made), "make a communicator");
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return communicators_[members] = made;
}

void MpiWorld::leave(int exit_code) {
  exit_code = service_->end(exit_code);
  finalize(exit_code);
  if (!failure_.is_set()) return;
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

void MpiWorld::finalize(int exit_code) {
  std::mutex waiting;
  std::condition_variable ended;
  bool finalized = false;
  std::thread guard([&] {
    std::unique_lock lock(waiting);
    if (ended.wait_for(lock, patience_with_finalize, [&] { return finalized; })) return;
    std::fflush(nullptr);
    std::_Exit(exit_code);
  });
  gate_.close();
  {
    const auto lock = gate_.enter();
    MPI_Finalize();
  }
  {
    const std::lock_guard lock(waiting);
    finalized = true;
  }
  ended.notify_all();
  guard.join();
}

}  // namespace isobar::comm_mpi
