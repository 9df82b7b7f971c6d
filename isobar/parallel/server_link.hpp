// ServerLink: a worker's line to the parameter servers. What is put into it is sent behind the step, each server gets
// its part; then the worker waits for the answers.
#pragma once

#include <memory>

#include "isobar/comm/reducer.hpp"
#include "isobar/parallel/replica.hpp"
#include "isobar/parallel/server_counts.hpp"
#include "isobar/parallel/server_words.hpp"

namespace isobar::parallel {

class ServerLink {
 public:
  /// The last `servers` ranks of `world` are the servers; rank 0 is the first of so many workers. Both others must
  /// outlive this.
  ServerLink(comm::Comm& world, int servers, int workers, const comm::ReducerOptions& limits)
      : world_(world), limits_(limits), servers_(servers), workers_(workers) {}

  /// Gives the servers what the run begins with, after so many updates; once, before the first step: the first worker
  /// does. `parameters` are those of the replica, with the server of each; servers keep their
  /// slots, too, or weights alone.
  void begin(const Replica& replica, std::vector<ServedParameter> parameters, std::int64_t updates,
             bool with_slots = true);
  /// Where what is next sent of a trained weight lies.
  std::span<float> outgoing(int p) { return outgoing_[p]; }
  /// Copies numbers there.
  void put(Replica& replica, int p, std::span<const float> numbers);
  /// Sends all that was put in, with running statistics, and waits for the answers.
  void exchange(Replica& replica, const optim::Step& step, double samples);
  /// Leaves the weights that came with the answers in the replica.
  void take(Replica& replica);
  /// Leaves the whole state of the servers in the replica, as it is now.
  void fetch(Replica& replica);
  /// This worker takes no more steps: waits until none does. The first worker is left with the final state.
  void finish(Replica& replica);

  bool is_first() const { return world_.rank() == 0; }
  bool is_finished() const { return finished_; }
  /// Whether some worker wants all to stop, as far as this one has been told.
  bool stopping(bool mine) { return stop_ = stop_ || mine; }
  /// Updates of all workers, as this one knows it.
  std::int64_t updates() const { return updates_; }
  /// The parameter whose gradient was not finite, so that nothing was applied; -1: none.
  int spoilt() const { return spoilt_; }
  /// What servers have counted; known after fetch() and finish().
  const ServingCounts& counts() const { return counts_; }
  comm::ExchangeCost cost() const;

 private:
  struct Line {
    std::vector<int> parameters{};                                 ///< in order
    std::size_t trained = 0;                                       ///< numbers of these
    std::unique_ptr<comm::GradientMemory> outgoing{}, incoming{};  ///< numbers and statistics; weights
    std::int64_t version = 0;                                      ///< of its weights here
    Answer answer{};
  };

  int rank_of(std::size_t server) const { return world_.size() - servers_ + static_cast<int>(server); }
  void put_statistics(Replica& replica);
  void ask(const Question& question);
  void hear(std::size_t server, std::span<std::byte> bytes, bool patient = false);
  void hear_state(Replica& replica, bool patient = false);
  void note_answers();

  comm::Comm& world_;
  const comm::ReducerOptions& limits_;
  int servers_, workers_;
  std::vector<Line> lines_;  ///< one for each server, from begin() on
  std::vector<std::span<float>> outgoing_;
  std::int64_t updates_ = 0;
  int spoilt_ = -1;
  ServingCounts counts_;
  double waited_seconds_ = 0;
  Chore exchanging_{Category::communication, "update by parameter servers"};
  std::int64_t exchanges_ = 0;
  bool with_slots_ = true, stop_ = false, finished_ = false;
};

}  // namespace isobar::parallel
