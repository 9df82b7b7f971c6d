#include "isobar/comm/local_world.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::comm {
namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
std::uint32_t epoch_of(const Channel& channel) { return std::get<1>(channel); }

}  // namespace

void LocalWorld::throw_if_ended(int rank, std::uint32_t epoch) const {
  if (dead(rank)) throw RankDied(fmt::format("[rank {}] is dead", rank));
  if (aborted_) throw Aborted(message_);
  if (outdated(epoch)) throw MembersChanged(fmt::format("rank {} has died", roster_->died().back()));
}

void LocalWorld::die_if(bool dies, int rank) {
  if (!dies) return;
  wake_all();
  throw_if_ended(rank, 0);
}

void LocalWorld::begin(const Channel& channel, const std::shared_ptr<Side>& side) {
  std::unique_lock lock(mutex_);
  throw_if_ended(side->self, epoch_of(channel));
  if (roster_) die_if(roster_->begins_message(side->self), side->self);
  auto& queue = waiting_[channel];
  if (queue.empty() || queue.front()->sends == side->sends) {
    expects(queue.empty() || side->sends || !queue.back()->may_be_shorter,
            "a receive of at most so many bytes that is finished before the next begins");
    queue.push_back(side);
    return;
  }
  const std::shared_ptr<Side> other = queue.front();
  queue.pop_front();
  if (queue.empty()) waiting_.erase(channel);
  side->met_length = other->length;
  other->met_length = side->length;
  const Side &from = side->sends ? *side : *other, &to = side->sends ? *other : *side;
  if (to.may_be_shorter ? from.length > to.length : from.length != to.length) {
    side->state = other->state = Side::State::wrong_length;
    side->may_be_shorter = other->may_be_shorter = to.may_be_shorter;
    mailboxes_[index(other->self)].changed.notify_all();
    return;
  }
  side->sends ? copy(lock, *side, *other) : copy(lock, *other, *side);
}

void LocalWorld::copy(std::unique_lock<std::mutex>& lock, Side& from, Side& to) {
  from.state = to.state = Side::State::copying;
  lock.unlock();
  if (from.length > 0) std::memcpy(to.target, from.source, from.length);
  lock.lock();
  from.state = to.state = Side::State::finished;
  mailboxes_[index(from.self)].changed.notify_all();
  mailboxes_[index(to.self)].changed.notify_all();
}

bool LocalWorld::wait(const Channel& channel, const std::shared_ptr<Side>& side, double seconds) {
  std::unique_lock lock(mutex_);
  const std::uint32_t epoch = epoch_of(channel);
  const auto settled = [&] {
    if (side->state != Side::State::waiting) return side->state != Side::State::copying;
    return aborted_ || mailboxes_[index(side->peer)].left || dead(side->self) || dead(side->peer) || outdated(epoch);
  };
  std::condition_variable& changed = mailboxes_[index(side->self)].changed;
  if (seconds < 0) changed.wait(lock, settled);
  else if (!changed.wait_for(lock, std::chrono::duration<double>(seconds), settled)) return false;
  if (side->state == Side::State::finished) return true;
  throw_if_ended(side->self, epoch);
  if (side->state == Side::State::wrong_length) {
    const auto [from, to] = side->sends ? std::pair(side->self, side->peer) : std::pair(side->peer, side->self);
    const auto [sent, room] =
        side->sends ? std::pair(side->length, side->met_length) : std::pair(side->met_length, side->length);
    throw_wrong_length(fmt::format("a message of {} bytes", sent), from, room,
                       side->may_be_shorter ? Length::at_most : Length::exact, to);
  }
  if (dead(side->peer)) throw PeerDied(fmt::format("rank {} has died", side->peer));
  throw PeerLeft(fmt::format("waited for rank {}, which has ended", side->peer));
}

void LocalWorld::withdraw(const Channel& channel, const std::shared_ptr<Side>& side) {
  std::unique_lock lock(mutex_);
  if (side->state == Side::State::waiting) {
    const auto queue = waiting_.find(channel);
    if (queue == waiting_.end()) return;
    std::erase(queue->second, side);
    if (queue->second.empty()) waiting_.erase(queue);
    return;
  }
  mailboxes_[index(side->self)].changed.wait(lock, [&] { return side->state != Side::State::copying; });
}

void LocalWorld::wake_all() {
  for (Mailbox& mailbox : mailboxes_) mailbox.changed.notify_all();
}

bool LocalWorld::abort(int rank, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (dead(rank)) return false;
  if (aborted_) return aborted_by_ == rank;
  message_ = fmt::format("[rank {}] {}", rank, message);
  aborted_ = true;
  aborted_by_ = rank;
  wake_all();
  return true;
}

void LocalWorld::check(int rank, std::uint32_t epoch) const {
  const std::lock_guard lock(mutex_);
  throw_if_ended(rank, epoch);
}

void LocalWorld::work_alone(int rank) {
  const std::lock_guard lock(mutex_);
  if (roster_) roster_->alone(rank);
}

void LocalWorld::leave(int rank) {
  const std::lock_guard lock(mutex_);
  mailboxes_[index(rank)].left = true;
  if (roster_) roster_->left(rank);
  wake_all();
}

Group LocalWorld::all(int rank) const {
  Group group{.rank = rank, .size = size()};
  for (int each = 0; each < size(); ++each) group.nodes.push_back(each / per_node_);
  return group;
}

std::uint64_t LocalWorld::number(std::uint64_t parent, const Group& group) {
  const std::lock_guard lock(mutex_);
  return groups_.number(parent, group);
}

std::shared_ptr<std::vector<std::byte>> LocalWorld::memory(std::uint64_t group, std::uint32_t epoch,
                                                           std::uint64_t serial, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<std::vector<std::byte>>& kept = memories_[{group, epoch, serial}];
  if (auto existing = kept.lock()) return existing;
  const auto made = std::make_shared<std::vector<std::byte>>(bytes);
  kept = made;
  return made;
}

void LocalWorld::note(int rank, std::string what) {
  post_mortem::flight_recorder().note(what);
  const std::lock_guard lock(mutex_);
  if (roster_) die_if(roster_->notes(rank, what), rank);
  notes_[index(rank)] = std::move(what);
}

std::optional<std::string> LocalWorld::noted(int rank) const {
  const std::lock_guard lock(mutex_);
  if (dead(rank)) return {};
  return notes_[index(rank)];
}

LocalRoster::Order LocalWorld::muster(int rank, bool stands_by) {
  std::unique_lock lock(mutex_);
  die_if(dead(rank) || (!stands_by && roster_->musters(rank)), rank);
  roster_->ready(rank, stands_by);
  wake_all();
  mailboxes_[index(rank)].changed.wait(lock,
                                       [&] { return aborted_ || dead(rank) || roster_->order(rank).has_value(); });
  throw_if_ended(rank, roster_->epoch());
  return *roster_->order(rank);
}

void LocalWorld::give_up(int rank, const std::string& why) {
  abort(rank, why);
  const std::lock_guard lock(mutex_);
  if (aborted_by_ == rank && !gave_up_) gave_up_ = why;
}

std::optional<std::string> LocalWorld::gave_up() const {
  const std::lock_guard lock(mutex_);
  return gave_up_;
}

bool LocalWorld::has_died(int rank) const {
  const std::lock_guard lock(mutex_);
  return dead(rank);
}

std::vector<int> LocalWorld::died() const {
  const std::lock_guard lock(mutex_);
  return roster_ ? roster_->died() : std::vector<int>();
}

}  // namespace isobar::comm
