// A small program whose ranks fail, die or hang in the way its argument says; faults_test.cpp starts it and checks how
// the world ends. Its main handles failures as the program isobar does.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm_mpi/world.hpp"

namespace {

using namespace isobar;
using namespace isobar::comm;

// Steps as in training: a note, some work, an exchange. `fault` happens on rank 2 in step 12.
void train(Comm& comm, const std::function<void()>& fault) {
  for (int step = 0;; ++step) {
    comm.note(fmt::format("step {}: exchanges gradients", step));
    if (comm.rank() == 2 && step == 12) fault();
    all_gather(comm, Bytes(100'000));
  }
}

void work_without_messages(Comm& comm, double seconds, bool looks) {
  volatile double x = 0;
  for (const double end = now_seconds() + seconds; now_seconds() < end;) {
    for (int i = 0; i < 100'000; ++i) x = x + 1;
    if (looks) comm.check();
  }
}

const std::map<std::string, std::function<void(Comm&)>> scenarios = {
    {"well",
     [](Comm& comm) {
       for (int i = 0; i < 20; ++i) all_gather(comm, Bytes(1000));
     }},
    {"fails", [](Comm& comm) { train(comm, [] { fail("the disk is full"); }); }},
    {"all_fail", [](Comm& comm) { fail("cannot open recipe {}", comm.rank()); }},
    {"all_are_called_wrongly", [](Comm&) { fail_usage("no such recipe"); }},
    {"one_is_called_wrongly",
     [](Comm& comm) {
       if (comm.rank() == 2) fail_usage("no such recipe");
       barrier(comm);
     }},
    {"fails_while_others_work",
     [](Comm& comm) {
       barrier(comm);
       if (comm.rank() == 2) fail("the disk is full");
       work_without_messages(comm, 60, true);
     }},
    {"fails_while_others_are_deaf",
     [](Comm& comm) {
       barrier(comm);
       if (comm.rank() == 2) fail("the disk is full");
       work_without_messages(comm, 60, false);
     }},
    {"fails_while_others_sum",
     [](Comm& comm) {
       const auto sum = comm.native_sum();
       if (comm.rank() == 2) fail("the disk is full");
       std::vector<float> data(1000);
       sum(data);
     }},
    {"killed", [](Comm& comm) { train(comm, [] { kill(getpid(), SIGKILL); }); }},
    {"crashes", [](Comm& comm) { train(comm, [] { std::signal(SIGSEGV, SIG_DFL), raise(SIGSEGV); }); }},
    {"exits", [](Comm& comm) { train(comm, [] { std::_Exit(0); }); }},
    {"killed_first",
     [](Comm& comm) {
       comm.note("reads its recipe");
       barrier(comm);
       if (comm.rank() == 0) kill(getpid(), SIGKILL);
       work_without_messages(comm, 60, true);
     }},
    {"killed_while_others_are_deaf",
     [](Comm& comm) {
       barrier(comm);
       if (comm.rank() == 2) kill(getpid(), SIGKILL);
       work_without_messages(comm, 60, false);
     }},
    {"stopped",
     [](Comm& comm) {
       comm.note("step 3");
       barrier(comm);
       if (comm.rank() == 2) raise(SIGSTOP);
       Bytes byte(1);
       Ticket ticket = comm.start_receive(2, 0, byte);
       while (!ticket.wait_for(1)) {
         // A rank that only waits for a core may be late once.
         std::vector<int> silent;
         const auto all = comm.whereabouts(1);
         for (int rank = 0; rank < comm.size(); ++rank)
           if (!all[static_cast<std::size_t>(rank)]) silent.push_back(rank);
         if (silent == std::vector{2}) fail("rank 2 does not answer");
       }
     }},
    {"drops_a_message",
     [](Comm& comm) {
       const Bytes large(std::size_t{4} << 20);
       if (comm.rank() == 2) Ticket dropped = comm.start_send(3, 0, large);
       Bytes byte(1);
       comm.receive(2, 1, byte);
     }},
    {"leaves_early",
     [](Comm& comm) {
       Bytes byte(1);
       if (comm.rank() == 1) comm.receive(2, 0, byte);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto scenario = scenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == scenarios.end()) return 2;
  const auto world = comm_mpi::join();
  int code = 1;
  try {
    guarded(world->comm(), [&] { scenario->second(world->comm()); });
    code = 0;
  } catch (const std::exception& error) {
    if (dynamic_cast<const UsageError*>(&error)) code = 2;
    if (const auto words = comm_mpi::last_words(*world, error)) std::fprintf(stderr, "isobar: %s\n", words->c_str());
  }
  world->leave(code);
  return code;
}
