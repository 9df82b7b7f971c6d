#include "isobar/cli/post_mortem.hpp"

#include <fmt/format.h>

#include "isobar/base/crash.hpp"
#include "isobar/base/flight_recorder.hpp"
#include "isobar/files/disk_warnings.hpp"

namespace isobar::cli {
namespace {

class PostMortemSink final : public train::Sink {
 public:
  train::SinkTurn turn() const override { return train::SinkTurn::first; }  // start() decides who tells of full disks
  bool on_every_rank() const override { return true; }
  void start(const train::Start& start) override {
    set_post_mortem_folder(start.folder);
    files::disk_warnings().speak(start.rank == 0);
  }
  void step(const train::StepDone& done) override {
    flight_recorder().note(fmt::format("step {} done in {:.3f} s, loss {:g}", done.step, done.seconds, done.loss));
  }
};

}  // namespace

std::unique_ptr<train::Sink> post_mortem() { return std::make_unique<PostMortemSink>(); }

}  // namespace isobar::cli
