// Pair words: what ranks tell each other that meet in pairs, each at its own pace. A word is a message of a few bytes;
// what belongs to it follows with another tag. Nobody waits for a word: whoever passes by looks whether some have come.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::parallel {

enum class PairWord : std::int64_t {
  offer,      ///< the sender's model follows; answered with what it shall add
  ask_model,  ///< answered with a model; the first rank asks
  stop,       ///< all shall stop
  done,       ///< the sender takes no more steps; told to the first rank
  over,       ///< nobody takes more steps; answered with a model
};

class PairWords {
 public:
  static constexpr int word_tag = 0, offer_tag = 1, answer_tag = 2, model_tag = 3;

  /// Hears these ranks of `world`, which must outlive this.
  PairWords(comm::Comm& world, const std::vector<int>& senders);

  struct Heard {
    int from = 0;
    PairWord word{};
  };
  /// A word that has come, if one has.
  std::optional<Heard> next();
  /// Waits a moment, or until a word has come.
  void pause();
  void tell(int to, PairWord word);

  /// Does something with messages from or to this rank: false if it has died or left, after which it counts no more.
  template <class Work>
  bool reaches(int rank, Work work) {
    try {
      if (lost(rank)) return false;
      work();
    } catch (const comm::PeerDied&) {
      lost_[rank] = true;
    } catch (const comm::PeerLeft&) {
      lost_[rank] = true;
    }
    return !lost(rank);
  }
  bool lost(int rank) const { return lost_[rank]; }
  /// Hears and tells nothing more: what was told has arrived before.
  void close();

 private:
  struct Line {
    int from = 0;
    PairWord word{};
    comm::Ticket open{};
  };
  struct Told {
    int to = 0;
    PairWord word{};
    comm::Ticket under_way{};
  };

  comm::Comm& world_;
  std::vector<bool> lost_;
  std::vector<Line> lines_;  // never grows once messages are open
  std::size_t next_ = 0;     // the line that is looked at next, so that all are heard
  std::list<Told> told_;
};

}  // namespace isobar::parallel
