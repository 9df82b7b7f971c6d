#include "isobar/comm/inbox.hpp"

#include <vector>

#include "isobar/comm/patience.hpp"

namespace isobar::comm {
namespace {

/// Looks at one message after the other, from where it last stopped: where many have come it need not look far.
class PolledInbox final : public Inbox {
 public:
  explicit PolledInbox(Comm& comm) : comm_(comm) {}

  void add(int number, Ticket& ticket) override {
    const auto place = static_cast<std::size_t>(number);
    if (place >= open_.size()) open_.resize(place + 1);
    expects(!open_[place], "one message for a number");
    open_[place] = &ticket;
    ++count_;
  }

  int next() override {
    expects(count_ > 0, "something to wait for");
    for (Patience patience;; patience.pause()) {
      for (std::size_t i = 0; i < open_.size(); ++i) {
        if (next_ >= open_.size()) next_ = 0;
        const std::size_t place = next_++;
        if (!open_[place] || !is_over(*open_[place])) continue;
        open_[place] = nullptr;
        --count_;
        return static_cast<int>(place);
      }
      comm_.check();
    }
  }

 private:
  static bool is_over(Ticket& ticket) {
    try {
      return ticket.done();
    } catch (const PeerDied&) {
      return true;
    }
  }

  Comm& comm_;
  std::vector<Ticket*> open_;  // by number
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace

std::unique_ptr<Inbox> make_inbox(Comm& comm) {
  if (auto own = comm.own_inbox()) return own;
  return std::make_unique<PolledInbox>(comm);
}

std::unique_ptr<Inbox> Comm::own_inbox() { return nullptr; }

}  // namespace isobar::comm
