// Inbox: open messages of which a rank takes whichever has come. Who was heard last is looked at last, so that a quick
// sender keeps nobody from being heard.
#pragma once

#include <memory>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

class Inbox {
 public:
  virtual ~Inbox() = default;

  /// Watches a message under a number from 0 on. The ticket must stay where it is until next() has returned the number,
  /// or the inbox is gone.
  virtual void add(int number, Ticket& ticket) = 0;
  /// Waits until a message is finished, and returns its number; it is watched no longer. Of several it is the next
  /// behind the number that was returned last. One that cannot finish because its peer has died counts: its wait()
  /// throws PeerDied. Throws Aborted if a rank fails meanwhile.
  virtual int next() = 0;
};

/// An inbox for messages of this group, which must outlive it.
std::unique_ptr<Inbox> make_inbox(Comm& comm);

}  // namespace isobar::comm
