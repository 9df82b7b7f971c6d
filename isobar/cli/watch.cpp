// isobar watch RUN: follows a run from another terminal, through its folder.
#include "isobar/record/watch.hpp"

#include <chrono>
#include <thread>

#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

struct WatchOptions {
  std::string folder;
  bool once = false;
};

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// False once a signal has arrived, which is noticed within a moment.
bool wait_a_moment() {
  if (!stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return !stop_requested();
}

void declare_watch(CLI::App& command) {
  auto options = std::make_shared<WatchOptions>();
  command.add_option("run", options->folder, "folder of the run, such as runs/small; waits until it exists")
      ->required();
  command.add_flag("--once", options->once, "show its state and exit");
  command.callback([options] {
    catch_signals();
    record::watch(options->folder, record::Screen::of(stdout), {options->once, unix_time, wait_a_moment});
  });
}

}  // namespace

extern const Verb watch_verb{"watch", "follow a run from another terminal, or see how it went", declare_watch};

}  // namespace isobar::cli
