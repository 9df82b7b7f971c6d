// Crew: the ranks that are at work at present, of a world whose ranks may die. Who has met MembersChanged drops its
// groups, keeps what it has in memory, and musters again: those who are left, and spares, become the next group.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

/// The epoch of the first group of a crew whose ranks may die; every later one has lost a rank.
inline constexpr std::uint32_t first_epoch = 1;

class Crew {
 public:
  virtual ~Crew() = default;

  /// The group of those at work, this rank among them; waits until there is one, a spare until it is needed. `usable`
  /// tells how many of so many available ranks can work together, alike on all; the others stand by. Null when the work
  /// is over and this rank is not needed any more; throws Aborted when the world ends.
  virtual std::unique_ptr<Comm> muster(const std::function<int(int available)>& usable) = 0;
  /// The work cannot go on in place: all ranks end, and are started anew from the newest checkpoint. Throws Aborted.
  [[noreturn]] virtual void give_up(const std::string& why) = 0;
  /// Whether ranks may die without ending the work; if not, muster() gives the same group once.
  virtual bool elastic() const = 0;
};

/// The crew of a world that ends when one of its ranks dies: all of them, once.
std::unique_ptr<Crew> fixed_crew(Comm& world);

}  // namespace isobar::comm
