// Switchboard: the launcher's sockets. It admits processes that know the token, turns messages from ranks and closed
// sockets into events for the roster, and sends what the roster decides. A rank silent for too long counts as dead.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isobar/control/chronicle.hpp"
#include "isobar/control/line_socket.hpp"
#include "isobar/control/roster.hpp"

namespace isobar::control {

class Switchboard {
 public:
  struct Setup {
    Roster::Setup ranks;
    std::string token;
    bool everywhere = false;      ///< listens on all addresses of this machine
    double freeze_seconds = 10;   ///< a rank silent for longer is dead
    double hello_seconds = 60;    ///< within which all ranks must have said hello
    double muster_seconds = 300;  ///< within which all must be ready, at the start or after a death
  };
  using Clock = std::function<double()>;

  Switchboard(Setup setup, Chronicle& chronicle, Clock clock);
  ~Switchboard();
  Switchboard(const Switchboard&) = delete;
  Switchboard& operator=(const Switchboard&) = delete;

  std::uint16_t port() const { return listener_.port; }
  /// Forgets all peers and expects the ranks of a new launch.
  void begin(int launch);
  /// Waits at most `seconds` for something to happen, here or on descriptor `other` (-1: none), and handles it.
  void turn(double seconds, int other = -1);
  /// Forwards a stop signal to all ranks.
  void stop();
  /// Has every connected process killed.
  void expel_all();
  /// The processes are known to be gone, for this reason: every rank that has not said goodbye is dead.
  void all_gone(const std::string& why);
  /// Whether no socket is left.
  bool deserted() const { return peers_.empty(); }
  /// Whether any rank or shield of this launch has said hello.
  bool met_anybody() const { return met_anybody_; }
  const Roster& roster() const { return *roster_; }

 private:
  struct Peer;

  void accept_peers();
  void attend(Peer& peer);
  void hear(Peer& peer, const Report& report);
  void greet(Peer& peer, const Report& hello);
  void hear_shield(Peer& shield, const Report& report);
  void bury(Peer& peer, bool frozen);
  void lose(int rank, Death death);
  void answer_where(Peer& peer);
  void carry_out(const Actions& actions);
  void look_at_clocks();
  Peer* find(int rank, bool shield);

  Setup setup_;
  Chronicle& chronicle_;
  Clock clock_;
  ListeningSocket listener_;
  std::unique_ptr<Roster> roster_;
  int launch_ = 0;
  bool met_anybody_ = false, stopping_ = false;
  double last_turn_ = 0, phase_since_ = 0;
  Roster::Phase phase_ = Roster::Phase::starting;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace isobar::control
