// ServedModel: the part of a model that one server keeps, as the rules see it that decide what becomes of what workers
// send. It counts updates, and lets work take its time in traces and simulations.
#pragma once

#include "isobar/comm/comm.hpp"
#include "isobar/parallel/kept_parameters.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

class ServedModel {
 public:
  /// Who serves: the comm of all ranks, those that send, and those that serve, alone among themselves.
  struct Crew {
    comm::Comm& world;
    std::vector<int> workers;  ///< their ranks in the world
    std::unique_ptr<comm::Comm> servers;
  };
  /// All must outlive this.
  ServedModel(Crew& crew, const ServerSetting& setting) : crew_(crew), setting_(setting) {}

  /// What the run begins with: parameters of this server, their numbers in the model, and how many updates came before.
  void begin(std::span<const ServedParameter> parameters, std::vector<int> numbers, std::int64_t updates);

  KeptParameters& kept() { return kept_; }
  const KeptParameters& kept() const { return kept_; }
  /// The number in the model of the i-th parameter kept here.
  int number(std::size_t i) const { return numbers_[i]; }
  int workers() const { return std::ssize(crew_.workers); }
  comm::Comm& servers() { return *crew_.servers; }
  std::int64_t updates() const { return updates_; }
  double now() const { return crew_.world.now(); }
  std::unique_ptr<comm::GradientMemory> memory(std::size_t floats) { return comm::message_memory(crew_.world, floats); }

  /// Applies gradients by the optimizer's rule as the next update, by default with that number.
  void update(std::span<const float> gradients, const optim::Step& step, std::int64_t index = 0);
  /// Changes weights in another way, as the next update; the work moves so many bytes.
  template <class Work>
  void update_by(double bytes, Work work) {
    ++updates_;
    timed(updating_, bytes, work);
  }
  void copy_weights(std::span<float> into) {
    if (!pretends(2.0 * static_cast<double>(into.size_bytes()))) kept_.copy_trained_weights(into);
  }
  /// Does some work that moves so many bytes and records it; in a simulation its time passes.
  template <class Work>
  void timed(Chore& chore, double bytes, Work work) {
    recorded(chore, bytes, [&] {
      if (!pretends(bytes)) work();
    });
  }
  /// Records what is done in any case.
  template <class Work>
  void recorded(Chore& chore, double bytes, Work work) {
    const double begin = now_seconds();
    work();
    if (!setting_.trace) return;
    Trace& trace = setting_.trace->main();
    if (chore.in_trace < 0) chore.in_trace = trace.intern(chore.name);
    const auto name = static_cast<std::uint32_t>(chore.in_trace);
    trace.record({chore.category, name, updates_, begin, now_seconds() - begin, 0, bytes});
  }
  bool pretends(double bytes) const { return setting_.pretends && setting_.pretends(bytes); }

 private:
  Crew& crew_;
  const ServerSetting& setting_;
  KeptParameters kept_;
  std::vector<int> numbers_;
  std::int64_t updates_ = 0;
  Chore updating_{Category::optimizer, "update"};
};

}  // namespace isobar::parallel
