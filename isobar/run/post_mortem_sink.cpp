#include "isobar/run/post_mortem_sink.hpp"

#include <fmt/format.h>

#include "isobar/disk/disk_warnings.hpp"
#include "isobar/post_mortem/crash.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::run {
namespace {

class PostMortemSink final : public train::Sink {
 public:
  bool on_every_rank() const override { return true; }
  train::SinkTurn turn() const override { return train::SinkTurn::first; }  // start() decides who reports full disks
  void start(const train::Start& start) override {
    post_mortem::set_post_mortem_folder(start.folder);
    disk::disk_warnings().speak(start.rank == 0);
  }
  void step(const train::StepDone& done) override {
    post_mortem::flight_recorder().note(
        fmt::format("step {} done in {:.3f} s, loss {:g}", done.step, done.seconds, done.loss));
  }
};

}  // namespace

std::unique_ptr<train::Sink> post_mortem_sink() { return std::make_unique<PostMortemSink>(); }

}  // namespace isobar::run
