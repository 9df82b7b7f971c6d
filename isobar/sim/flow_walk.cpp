#include "isobar/sim/flow_walk.hpp"

#include "isobar/comm/reserved_tags.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;
using comm::Move;

}  // namespace

FlowWalk::FlowWalk(FlowWorld& world, std::vector<int> members, int rank, std::string name)
    : world_(world), members_(std::move(members)), rank_(rank), name_(std::move(name)) {}

double FlowWalk::bytes_sent(const comm::Schedule& schedule, const comm::Numbers& numbers) const {
  std::size_t count = 0;
  for (const comm::Round& round : schedule)
    for (const Move& move : round)
      if (move.is_message_of(rank_)) count += move.range.count;
  return numbers.bound(count);
}

void FlowWalk::spend(double latency, double messages) const {
  const double seconds = latency + messages * world_.platform.network.message_overhead;
  if (!world_.options.without.latency && seconds > 0) s4u::this_actor::sleep_for(seconds);
}

// What a rank sends has to wait for the slowest of its messages: flows themselves have no latency.
void FlowWalk::begin_round(const comm::Round& round) {
  double latency = 0, messages = 0;
  for (const Move& move : round) {
    if (!move.is_message_of(rank_)) continue;
    latency = std::max(latency, latency_to(move.peer));
    messages += comm::Walk::messages(move.range.count);
  }
  spend(latency, messages);
}

s4u::CommPtr FlowWalk::send(int to, std::int64_t number, FlowPacket packet) {
  const std::size_t bytes = packet.bytes;
  ++traffic_.messages;
  traffic_.bytes += bytes;
  auto content = std::make_unique<FlowPacket>(std::move(packet));
  return mailbox(number, rank_, to)->put_async(content.release(), world_.options.without.bandwidth ? 0 : bytes);
}

void FlowWalk::walk(const comm::Schedule& schedule, std::int64_t number, const comm::Numbers& numbers) {
  const bool real = world_.options.real_numbers && numbers.count() > 0;  // messages within passes never are
  for (const comm::Round& round : schedule) {
    begin_round(round);
    std::vector<s4u::CommPtr> flows;
    std::vector<FlowPacket*> arriving(round.size());
    for (std::size_t i = 0; i < round.size(); ++i) {
      const Move& move = round[i];
      if (move.peer == rank_) {
        if (real) numbers.round(move.range);
      } else if (move.kind == Move::Kind::send) {
        FlowPacket packet{numbers.bound(move.range.count)};
        if (real) packet.contents.resize(packet.bytes), numbers.encode(move.range, packet.contents);
        if (world_.options.sent) tell_sent(number, move, numbers);
        flows.push_back(send(move.peer, number, std::move(packet)));
      } else {
        flows.push_back(mailbox(number, move.peer, rank_)->get_async<FlowPacket>(&arriving[i]));
      }
    }
    for (const s4u::CommPtr& flow : flows) flow->wait();
    double added = 0;
    for (std::size_t i = 0; i < round.size(); ++i) {
      const std::unique_ptr<FlowPacket> packet(arriving[i]);
      if (!packet) continue;
      const Move& move = round[i];
      if (move.kind == Move::Kind::add) added += move.range.count * numbers.number_bytes();
      if (!real) continue;
      if (move.kind == Move::Kind::add) numbers.combine(packet->contents, move.range);
      else numbers.decode(packet->contents, move.range);
    }
    const double rate = world_.platform.node.sum_bytes_per_second;
    if (added > 0 && rate > 0 && !world_.options.without.bandwidth) s4u::this_actor::sleep_for(3 * added / rate);
  }
}

// As a comm::GatherFlight has it: a message goes on when all of it has arrived.
std::vector<FlowPacket> FlowWalk::gather(FlowPacket mine, std::int64_t number) {
  const int size = std::ssize(members_);
  std::vector<FlowPacket> all(members_.size());
  all[rank_] = std::move(mine);
  const int left = (rank_ + size - 1) % size, right = (rank_ + 1) % size;
  for (int step = 0; step + 1 < size; ++step) {
    const FlowPacket& next = all[(rank_ + step) % size];
    spend(latency_to(left), 1);
    if (world_.options.sent)
      world_.options.sent({.sum = number, .from = member(rank_), .to = member(left), .bytes = next.bytes});
    FlowPacket* arriving = nullptr;
    const s4u::CommPtr flows[] = {send(left, number, next),
                                  mailbox(number, right, rank_)->get_async<FlowPacket>(&arriving)};
    for (const s4u::CommPtr& flow : flows) flow->wait();
    const std::unique_ptr<FlowPacket> packet(arriving);
    all[(rank_ + step + 1) % size] = std::move(*packet);
  }
  return all;
}

void FlowWalk::tell_sent(std::int64_t number, const Move& move, const comm::Numbers& numbers) const {
  for (std::size_t begun = 0; begun < move.range.count;) {
    const std::size_t count = comm::Walk::next_message(move.range, begun).count;
    world_.options.sent({.sum = number, .from = member(rank_), .to = member(move.peer), .bytes = numbers.bound(count)});
    begun += count;
  }
}

s4u::Mailbox* FlowWalk::mailbox(std::int64_t number, int from, int to) const {
  return s4u::Mailbox::by_name(
      fmt::format("{}.{}:{}>{}", name_, number % comm::sums_under_way, member(from), member(to)));
}

}  // namespace isobar::sim
