// progress: shows a run on the terminal: one line that is redrawn, and one permanent line for every epoch.
#include "isobar/record/run_status.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

class Progress final : public train::Sink {
 public:
  Progress(Screen screen, bool quiet, double peak_flops)
      : line_(std::move(screen)), quiet_(quiet), status_(peak_flops) {}

  void start(const train::Start& start) override { print(status_.start(start)); }

  void step(const train::StepDone& step) override {
    status_.step(step);
    if (!quiet_ && line_.due()) line_.show(status_.line(line_.columns()));
  }

  void bad_step(const train::BadStep& bad) override { print({status_.bad_step(bad)}); }
  void epoch(const train::EpochDone& epoch) override { print({status_.epoch(epoch)}); }
  void checkpoint(const train::CheckpointDone& done) override { status_.checkpoint(done); }
  void end(const train::End& end) override { print(status_.end(end)); }

 private:
  void print(const std::vector<std::string>& lines) {
    if (quiet_) return;
    for (const std::string& line : lines) line_.print(line);
  }

  StatusLine line_;
  bool quiet_;
  RunStatus status_;
};

}  // namespace

std::unique_ptr<train::Sink> progress(Screen screen, bool quiet, double peak_flops) {
  return std::make_unique<Progress>(std::move(screen), quiet, peak_flops);
}

std::unique_ptr<train::Sink> progress(std::FILE* out, bool quiet, double peak_flops) {
  return progress(Screen::of(out), quiet, peak_flops);
}

}  // namespace isobar::record
