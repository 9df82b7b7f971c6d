// WorldView: what a rank exchanges with the whole world besides messages: failures, what ranks are doing, the time.
// Every rank has one, and all its groups share it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/clock.hpp"
#include "isobar/comm/circle.hpp"

namespace isobar::comm {

class MessageEngine;

class WorldView {
 public:
  explicit WorldView(bool elastic = false, std::string carrier = {})
      : elastic_(elastic), carrier_(std::move(carrier)) {}
  virtual ~WorldView() = default;

  /// Whether ranks may die without ending the world.
  bool elastic() const { return elastic_; }
  /// What carries messages between nodes: "MPICH 4.0.2"; empty where speed is not worth measuring, such as for threads.
  const std::string& carrier() const { return carrier_; }

  /// Tells all ranks that this one cannot continue: every wait then throws Aborted("[rank n] message"), where n is its
  /// number in the world. The first of several messages is kept; returns whether that is this rank's.
  virtual bool abort(const std::string& message) = 0;
  /// Throws Aborted once a rank has failed, MembersChanged once groups of this epoch have lost members. Cheap.
  virtual void check(std::uint32_t epoch) const = 0;
  /// Says who will miss this rank from now on if it dies: all ranks, unless told otherwise. With Fate::peer a wait for
  /// it throws PeerDied, and nothing else happens. Only where ranks may die.
  virtual void set_fate(Fate) {}
  /// Whether a rank of the world has died. Cheap.
  virtual bool has_died(int /*rank*/) const { return false; }
  /// Notes what this rank is about to do: "step 12: gradients 3 of 7". Cheap; shown to ranks that wait for this one.
  virtual void note(std::string what) = 0;
  /// What some ranks of the world noted last, in the order given; a rank that does not answer in time has no value.
  virtual std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) = 0;
  /// Seconds on the clock of this world; only a simulation has its own clock.
  virtual double now() const { return now_seconds(); }
  /// Whether a wait that lasts means that something is wrong: not where nothing goes wrong, as in a simulation.
  virtual bool watches_waits() const { return true; }
  /// What drives messages while this rank computes: one for all its groups, made when it is first needed, and gone with
  /// its last user.
  std::shared_ptr<MessageEngine> engine();

 private:
  const bool elastic_;
  const std::string carrier_;
  std::mutex engine_mutex_;
  std::weak_ptr<MessageEngine> engine_;
};

}  // namespace isobar::comm
