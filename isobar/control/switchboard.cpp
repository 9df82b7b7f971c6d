#include "isobar/control/switchboard.hpp"

#include <algorithm>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "isobar/base/error.hpp"

namespace isobar::control {
namespace {

constexpr double seconds_to_hello = 10;
// If a turn comes this much too late, this process was suspended, not its ranks.
constexpr double own_delay_seconds = 1;

// Compares in constant time, so that the duration does not reveal how much of a guess was right.
bool same(const std::string& a, const std::string& b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace

struct Switchboard::Peer {
  Peer(Descriptor socket_of_peer, double now) : socket(std::move(socket_of_peer), longest_report), heard(now) {}

  LineSocket socket;
  double heard;
  bool known = false, shield = false, closing = false;
  int rank = -1;
  std::int64_t pid = 0;
  std::string host, note;
};

Switchboard::Switchboard(Setup setup, Chronicle& chronicle, Clock clock)
    : setup_(std::move(setup)),
      chronicle_(chronicle),
      clock_(std::move(clock)),
      listener_(listen_on(setup_.everywhere)) {
  begin(0);
}

Switchboard::~Switchboard() = default;

void Switchboard::begin(int launch) {
  peers_.clear();
  roster_ = std::make_unique<Roster>(setup_.ranks);
  launch_ = launch;
  met_anybody_ = false;
  phase_ = Roster::Phase::starting;
  phase_since_ = last_turn_ = clock_();
}

Switchboard::Peer* Switchboard::find(int rank, bool shield) {
  for (const auto& peer : peers_)
    if (peer->known && !peer->closing && peer->rank == rank && peer->shield == shield) return peer.get();
  return nullptr;
}

void Switchboard::turn(double seconds, int other) {
  std::vector<pollfd> wait{{*listener_.socket, POLLIN, 0}, {other, POLLIN, 0}};
  for (const auto& peer : peers_)
    wait.push_back({peer->socket.descriptor(), static_cast<short>(POLLIN | (peer->socket.sending() ? POLLOUT : 0)), 0});
  poll(wait.data(), wait.size(), static_cast<int>(seconds * 1e3) + 1);
  const double now = clock_();
  if (const double late = now - last_turn_ - seconds; late > own_delay_seconds)
    for (const auto& peer : peers_) peer->heard += late;
  last_turn_ = now;
  const std::size_t count = peers_.size();  // peers accepted meanwhile were not polled
  for (std::size_t i = 0; i < count; ++i)
    if (wait[i + 2].revents) attend(*peers_[i]);
  if (wait[0].revents) accept_peers();
  look_at_clocks();
  std::erase_if(peers_,
                [](const auto& peer) { return peer->closing && (!peer->socket.sending() || peer->socket.broken()); });
}

// There is room for two sockets per rank and some strangers; others must wait.
void Switchboard::accept_peers() {
  const int most = 2 * roster_->size() + 64;
  while (std::ssize(peers_) < most) {
    Descriptor socket(accept4(*listener_.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    peers_.push_back(std::make_unique<Peer>(std::move(socket), clock_()));
  }
}

void Switchboard::attend(Peer& peer) {
  if (peer.closing) return peer.socket.flush();
  peer.socket.flush();
  peer.socket.receive();
  try {
    while (const auto line = peer.closing ? std::nullopt : peer.socket.next()) hear(peer, read_report(*line));
  } catch (const Error&) {
    bury(peer, false);
  }
  if (peer.socket.broken() && !peer.closing) bury(peer, false);
}

void Switchboard::hear(Peer& peer, const Report& report) {
  peer.heard = clock_();
  if (!peer.known) return greet(peer, report);
  if (peer.shield) return hear_shield(peer, report);
  switch (report.kind) {
    case Report::Kind::beat: peer.note = report.text; break;
    case Report::Kind::progress: chronicle_.progress(clock_(), report.number); break;
    case Report::Kind::folder: chronicle_.folder(report.text); break;
    case Report::Kind::ready: carry_out(roster_->ready(peer.rank, report.epoch)); break;
    case Report::Kind::alone: roster_->alone(peer.rank); break;
    case Report::Kind::fail: {
      const bool first = !roster_->failure();
      carry_out(roster_->fail(peer.rank, report.text));
      if (first && roster_->failure()) chronicle_.failed(clock_(), peer.rank, report.text);
      break;
    }
    case Report::Kind::give_up: carry_out(roster_->give_up(peer.rank, report.text)); break;
    case Report::Kind::goodbye: carry_out(roster_->goodbye(peer.rank, report.number)); break;
    case Report::Kind::where: answer_where(peer); break;
    default: fail("not said by a rank that is known");
  }
}

void Switchboard::greet(Peer& peer, const Report& hello) {
  const bool ours = hello.kind == Report::Kind::hello && same(hello.text, setup_.token) && hello.launch == launch_ &&
                    hello.rank < roster_->size() && !find(hello.rank, hello.shield);
  std::optional<Actions> welcome = Actions{};
  if (ours && !hello.shield) welcome = roster_->join(hello.rank);
  if (!ours || !welcome) fail("not a rank of this launch");
  peer.known = true;
  peer.shield = hello.shield;
  peer.rank = hello.rank;
  peer.pid = hello.pid;
  peer.host = hello.host;
  met_anybody_ = true;
  carry_out(*welcome);
  if (stopping_ && !peer.shield) peer.socket.send(write(Notice{.kind = Notice::Kind::stop}));
}

// A rank that never said hello has ended by itself, for example after a wrong call, or was killed at its start.
void Switchboard::hear_shield(Peer& shield, const Report& report) {
  if (report.kind != Report::Kind::died) fail("not said by a shield");
  const int rank = shield.rank;
  if (Peer* of_rank = find(rank, false)) {
    of_rank->socket.receive();
    attend(*of_rank);
    if (!of_rank->closing) bury(*of_rank, false);
  } else if (roster_->state(rank) == Roster::State::absent) {
    if (report.signal == 0) carry_out(roster_->goodbye(rank, report.number));
    else lose(rank, {.rank = rank, .pid = shield.pid, .host = shield.host, .time = clock_()});
  }
  chronicle_.explained(rank, report.signal, report.number, report.text);
  shield.closing = true;
}

void Switchboard::bury(Peer& peer, bool frozen) {
  if (peer.closing) return;
  peer.closing = true;
  if (!peer.known || peer.shield) return;
  if (roster_->state(peer.rank) == Roster::State::finished) return;
  peer.socket.send(write(Notice{.kind = Notice::Kind::expelled}));
  if (Peer* shield = find(peer.rank, true)) shield->socket.send(write(Notice{.kind = Notice::Kind::expelled}));
  Death death{.rank = peer.rank, .pid = peer.pid, .host = peer.host, .note = peer.note, .time = clock_()};
  death.frozen = frozen;
  lose(peer.rank, std::move(death));
}

void Switchboard::lose(int rank, Death death) {
  using Phase = Roster::Phase;
  const Roster::State was = roster_->state(rank);
  const Phase phase = roster_->phase();
  const bool ending = phase == Phase::over || phase == Phase::failing || phase == Phase::relaunching;
  death.worked = was != Roster::State::standing_by && !ending && !roster_->is_alone(rank);
  // A rank that ends because all must end is not reported as a death.
  if (phase != Phase::failing && phase != Phase::relaunching) chronicle_.died(std::move(death));
  carry_out(roster_->die(rank));
}

void Switchboard::answer_where(Peer& peer) {
  for (const auto& other : peers_)
    if (other->known && !other->shield && !other->closing)
      peer.socket.send(write(Notice{.kind = Notice::Kind::note, .rank = other->rank, .text = other->note}));
  peer.socket.send(write(Notice{.kind = Notice::Kind::notes}));
}

void Switchboard::carry_out(const Actions& actions) {
  for (const Action& action : actions) {
    const std::string line = write(action.notice);
    for (const int rank : action.to)
      if (Peer* peer = find(rank, false)) peer->socket.send(line);
    if (action.notice.kind == Notice::Kind::go) chronicle_.going(clock_(), action.notice.epoch, action.notice.members);
    if (action.notice.kind == Notice::Kind::relaunch) chronicle_.relaunching(clock_(), action.notice.text);
  }
}

void Switchboard::look_at_clocks() {
  const double now = clock_();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = *peers_[i];
    const double silent = now - peer.heard;
    const bool rank = peer.known && !peer.shield;
    if (!peer.closing && (peer.known ? rank && silent > setup_.freeze_seconds : silent > seconds_to_hello))
      bury(peer, peer.known);
    if (peer.closing && silent > setup_.freeze_seconds + seconds_to_hello) peer.socket = LineSocket(Descriptor(), 0);
  }
  if (roster_->phase() != phase_) phase_since_ = now;
  phase_ = roster_->phase();
  const double since = now - phase_since_;
  const auto absent = roster_->in(Roster::State::absent).size();
  if (phase_ == Roster::Phase::starting && absent > 0 && since > setup_.hello_seconds)
    carry_out(roster_->relaunch(
        fmt::format("{} of {} ranks have not said hello within {:.0f} s", absent, roster_->size(), since)));
  if (phase_ == Roster::Phase::starting && absent == 0 && since > setup_.muster_seconds)
    carry_out(roster_->relaunch(fmt::format("{} of {} ranks were not ready to begin within {:.0f} s",
                                            roster_->in(Roster::State::busy).size(), roster_->size(), since)));
  if (phase_ == Roster::Phase::mustering && since > setup_.muster_seconds) {
    const auto busy = roster_->in(Roster::State::busy);
    carry_out(roster_->relaunch(fmt::format("rank {} was not ready {:.0f} s after a death", busy.front(), since)));
  }
  chronicle_.tick(now);
}

void Switchboard::stop() {
  stopping_ = true;
  for (const auto& peer : peers_)
    if (peer->known && !peer->shield) peer->socket.send(write(Notice{.kind = Notice::Kind::stop}));
}

void Switchboard::expel_all() {
  for (const auto& peer : peers_)
    if (peer->known) peer->socket.send(write(Notice{.kind = Notice::Kind::expelled}));
}

void Switchboard::all_gone(const std::string& why) {
  if (roster_->phase() == Roster::Phase::starting) carry_out(roster_->relaunch(why));
  for (int rank = 0; rank < roster_->size(); ++rank) {
    const Roster::State state = roster_->state(rank);
    if (state == Roster::State::finished || state == Roster::State::dead) continue;
    if (Peer* peer = find(rank, false)) bury(*peer, false);
    else carry_out(roster_->die(rank));
  }
}

}  // namespace isobar::control
