#include "isobar/machine/links.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/reserved_tags.hpp"

namespace isobar::machine {
namespace {

constexpr std::size_t small = 8, large = std::size_t{4} << 20;

struct Result {
  double latency_us = 0, mb_per_second = 0;
};

// The seconds that `times` messages to the peer take, each answered by one of `answer` bytes: the best of some tries,
// because other work of the machine can only make them slower.
double seconds(comm::Comm& comm, int peer, bool first, comm::Bytes& bytes, std::size_t answer, int times) {
  double best = 0;
  const auto there = std::span(bytes), back = std::span(bytes).first(answer);
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double begin = comm.now();
    for (int i = 0; i < times; ++i) {
      first ? comm.send(peer, comm::links_tag, there) : comm.receive(peer, comm::links_tag, there);
      first ? comm.receive(peer, comm::links_tag, back) : comm.send(peer, comm::links_tag, back);
    }
    const double taken = comm.now() - begin;
    if (attempt == 0 || taken < best) best = taken;
  }
  return best;
}

Result measure(comm::Comm& comm, int peer, bool first) {
  constexpr int many = 100, few = 4;
  comm::Bytes message(small), block(large);
  const double round_trips = seconds(comm, peer, first, message, small, many);
  const double blocks = seconds(comm, peer, first, block, 0, few);
  return {round_trips / many / 2 * 1e6, 1.0 * few * large / std::max(blocks, 1e-9) / 1e6};
}

}  // namespace

// Links that share a rank are measured one after the other, and so are some others, so that they do not disturb each
// other if there are more ranks than cores.
Links measure_links(comm::Comm& comm) {
  const int links = comm.size() - 1, phases = std::min(links, 8);
  Result mine;  // of the link to the right
  for (int phase = 0; phase < phases; ++phase) {
    barrier(comm);
    if (comm.rank() < links && comm.rank() % phases == phase) mine = measure(comm, comm.rank() + 1, true);
    if (comm.rank() > 0 && (comm.rank() - 1) % phases == phase) measure(comm, comm.rank() - 1, false);
  }
  Links all;
  for (const comm::Bytes& bytes : comm::all_gather(comm, std::as_bytes(std::span(&mine, 1)))) {
    Result result;
    std::memcpy(&result, bytes.data(), sizeof result);
    if (std::ssize(all.latency_us) == links) break;
    all.latency_us.push_back(result.latency_us);
    all.mb_per_second.push_back(result.mb_per_second);
  }
  return all;
}

}  // namespace isobar::machine
