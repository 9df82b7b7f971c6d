// Blocks travel in lockstep: in round k, rank r is in charge of file k N + r; it reads block b of it, and for s = 1 ...
// N - 1 sends it to rank r + s and receives one from rank r - s, if the plan says so. All ranks take the same steps in
// the same order, so they cannot deadlock, and a rank holds one block to send and one received.
#include "isobar/feeding/stage_files.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/feeding/counted_file.hpp"
#include "isobar/feeding/stage_folder.hpp"

namespace isobar::feeding {
namespace {

constexpr int block_tag = 0x57a;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// Ranks that write to different folders share nothing, even on the same host.
std::vector<std::string> nodes_of(const StageOptions& options, comm::Comm& comm) {
  const std::string mine =
      (options.node.empty() ? host_name() : options.node) + '\0' + std::filesystem::absolute(options.to).string();
  std::vector<std::string> nodes;
  for (const comm::Bytes& bytes : comm::all_gather(comm, std::as_bytes(std::span(mine))))
    nodes.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return nodes;
}

StageList list_once(const Spec& dataset, comm::Comm& comm) {
  comm::Bytes packed;
  if (comm.rank() == 0) packed = list_for_staging(dataset).pack();
  comm::broadcast(comm, packed);
  return StageList::unpack(packed);
}

void expect_room(const StagePlan& plan, std::int64_t max_bytes) {
  for (int node = 0; node < plan.nodes(); ++node)
    if (plan.bytes_for(node) > max_bytes)
      fail(
          "staging: the node of rank {} would hold {}, more than the {} that are allowed; allow more "
          "(max_gigabytes=...), or stage a part: scheme=quota, quota=...",
          plan.ranks_of(node)[0], human_bytes(plan.bytes_for(node)), human_bytes(max_bytes));
}

class Exchange {
 public:
  Exchange(const StagePlan& plan, const StageFolder& folder, std::size_t block, comm::Comm& comm)
      : plan_(plan), folder_(folder), block_(block), comm_(comm), mine_(block), theirs_(block) {}

  StageCounters run() {
    const auto files = std::ssize(plan_.list().files);
    for (std::int64_t first = 0; first < files; first += comm_.size())
      round(first, std::min(files, first + comm_.size()));
    return counters_;
  }

 private:
  void round(std::int64_t first, std::int64_t last) {
    const int size = comm_.size(), rank = comm_.rank();
    std::int64_t blocks = 0;
    for (std::int64_t file = first; file < last; ++file)
      if (wanted(file)) blocks = std::max(blocks, blocks_of(file));
    const std::int64_t own = first + rank;
    const bool reads = own < last && wanted(own);
    CountedFile source;
    if (reads) source = CountedFile(plan_.list().original(at(own)), at(own).bytes, at(own).changed);
    for (std::int64_t block = 0; block < blocks; ++block) {
      comm_.check();
      const bool has = reads && block < blocks_of(own);
      std::span<std::byte> outgoing;
      if (has) {
        outgoing = std::span(mine_).first(length(own, block));
        source.read(outgoing, counters_.read);
        if (block + 1 == blocks_of(own)) source.finish();
        if (plan_.wants(plan_.node_of(rank), own)) write(own, block, outgoing);
      }
      for (int step = 1; step < size; ++step) {
        const int to = (rank + step) % size, from = (rank + size - step) % size;
        const std::int64_t other = first + from;
        comm::Ticket receive, send;
        std::span<std::byte> incoming;
        const bool gets = other < last && plan_.sends(from, rank, other) && block < blocks_of(other);
        if (gets) {
          incoming = std::span(theirs_).first(length(other, block));
          receive = comm_.start_receive(from, block_tag, incoming);
        }
        if (has && plan_.sends(rank, to, own)) {
          send = comm_.start_send(to, block_tag, outgoing);
          counters_.sent += std::ssize(outgoing);
        }
        receive.wait();
        if (gets) {
          counters_.received += std::ssize(incoming);
          write(other, block, incoming);
        }
        send.wait();
      }
    }
  }

  const StageFile& at(std::int64_t file) const { return plan_.list().files[file]; }
  bool wanted(std::int64_t file) const {
    for (int node = 0; node < plan_.nodes(); ++node)
      if (plan_.wants(node, file)) return true;
    return false;
  }
  // An empty file has one block too: it must be created.
  std::int64_t blocks_of(std::int64_t file) const {
    return std::max<std::int64_t>(1, (at(file).bytes + block_ - 1) / block_);
  }
  std::size_t length(std::int64_t file, std::int64_t block) const {
    return std::min(block_, at(file).bytes - block * block_);
  }
  void write(std::int64_t file, std::int64_t block, std::span<const std::byte> bytes) {
    write_block(folder_.unfinished(at(file)), block * block_, bytes);
    counters_.written += std::ssize(bytes);
  }

  const StagePlan& plan_;
  const StageFolder& folder_;
  std::int64_t block_;
  comm::Comm& comm_;
  comm::Bytes mine_, theirs_;
  StageCounters counters_;
};

StageCounters total_of(const StageCounters& mine, comm::Comm& comm) {
  std::array numbers{mine.read, mine.sent, mine.received, mine.written};
  comm::sum_over_ranks(comm, numbers);
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

StageResult stage(const Spec& dataset, const StageOptions& options, comm::Comm& comm) {
  StagePlan plan(list_once(dataset, comm), options.scheme, options.quota, options.seed, nodes_of(options, comm));
  const int node = plan.node_of(comm.rank());
  const bool first_of_node = plan.ranks_of(node)[0] == comm.rank();
  StageResult result;
  result.set_bytes = plan.list().bytes();
  result.files = plan.seen_by(comm.rank()).size();
  expect_room(plan, options.max_bytes);

  StageFolder folder(options.to, plan, node);
  const auto finished = comm::all_gather_number(comm, first_of_node && folder.finished());
  for (int n = 0; n < plan.nodes(); ++n)
    if (finished[plan.ranks_of(n)[0]]) plan.has_all(n);
  result.reused = finished[plan.ranks_of(node)[0]] != 0;
  try {
    // Other ranks are told before anything is removed: otherwise they would fail because of that and report it first.
    comm::guarded(comm, [&] {
      if (first_of_node && !result.reused) folder.begin();
      comm::barrier(comm);
      result.counters = Exchange(plan, folder, std::max<std::size_t>(1, options.block_bytes), comm).run();
      comm::barrier(comm);
      if (first_of_node && !result.reused) folder.finish();
      result.total = total_of(result.counters, comm);
    });
  } catch (...) {
    // When the last rank of the node arrives here, no rank is writing any more.
    if (!result.reused) folder.discard();
    throw;
  }
  result.folder = folder.path();
  std::vector<std::string> paths;
  for (std::size_t s = 0; s < plan.list().sources.size(); ++s) paths.push_back(folder.path_of(s, comm.rank()));
  result.staged = with_sources(dataset, plan.list(), paths);
  return result;
}

}  // namespace

StageResult stage_files(const Spec& dataset, const StageOptions& options, comm::Comm& comm) {
  expects(!options.to.empty(), "a folder to stage to");
  return comm::guarded(comm, [&] { return stage(dataset, options, comm); });
}

}  // namespace isobar::feeding
