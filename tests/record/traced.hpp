// Handmade traced steps, and runs of a small job in which every rank writes its trace.
#pragma once

#include "isobar/comm/local_comm.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::record {

/// A step of four seconds: 1 waiting for input, 2 forward, 0.5 waiting for a sum, the rest idle; two sums overlap.
class MadeStep {
 public:
  MadeStep() {
    trace_.intern("waiting");
    trace_.intern("conv \"1\"\n");
    trace_.intern("sum");
    trace_.intern("idle");
  }

  train::StepTraced step(std::int64_t number, double begin) {
    events_ = {{Category::input_output, 0, number, begin, 1, 0, 0},
               {Category::forward_convolution, 1, number, begin + 1, 2, 1e9, 64},
               {Category::communication, 2, number, begin + 3, 0.5, 0, 32},
               {Category::idle, 3, number, begin + 3.5, 0.5, 0, 0},
               {Category::communication, 2, number, begin + 1, 2.25, 0, 32, Lane::exchange},
               {Category::communication, 2, number, begin + 2, 1.5, 0, 32, Lane::exchange},
               {Category::input_output, 0, number, begin, 3, 0, 16, Lane::reader}};
    return {number, begin, 4, events_, &trace_};
  }

 private:
  Trace trace_;
  std::vector<Event> events_;
};

inline train::Start made_start(const std::filesystem::path& folder, std::int64_t first_step = 0, int rank = 0) {
  train::Start start;
  start.folder = folder;
  start.first_step = first_step;
  start.epochs = 1;
  start.steps_per_epoch = 10;
  start.rank = rank;
  start.ranks = rank + 1;
  start.node = rank;
  start.threads = 3;
  return start;
}

/// Trains a small job on `ranks` ranks, each with its own sinks.
inline void traced_run(const std::filesystem::path& folder, int ranks, std::vector<const char*> settings) {
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        omp_set_num_threads(1);
        const auto facts =
            run_facts({.command = "isobar train", .versions = {{"isobar", "1"}}, .machine = {{"cpu", "c"}}});
        const auto totals = profile(), trace = chrome_trace(1 << 24);
        train::Trainer trainer(train::small_job(folder, settings), comm, {facts.get(), totals.get(), trace.get()});
        trainer.run();
      },
      ranks);
}

}  // namespace isobar::record
