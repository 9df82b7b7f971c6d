// The program `isobar-sim`: its verbs, and its exit code when it was stopped.
#include <fmt/format.h>

#include "isobar/forecast/scenario_runner.hpp"
#include "isobar/verbs/command_line.hpp"

namespace isobar::sim_cli {

extern const Verb advise_verb;     // advise.cpp
extern const Verb forecast_verb;   // forecast.cpp
extern const Verb platforms_verb;  // platforms.cpp
extern const Verb published_verb;  // published.cpp
extern const Verb what_if_verb;    // what_if.cpp

namespace {

constexpr const Verb* verbs[] = {&forecast_verb, &advise_verb, &what_if_verb, &published_verb, &platforms_verb};

}  // namespace
}  // namespace isobar::sim_cli

int main(int argc, char** argv) {
  using namespace isobar;
  return end_of("isobar-sim", [&] {
    try {
      return run_program({"isobar-sim",
                          "isobar-sim forecasts how a training run would scale on a machine you do not have: the "
                          "strategies and schedules that really run, under a simulated clock.",
                          ISOBAR_VERSION, sim_cli::verbs},
                         argc, argv);
    } catch (const forecast::Stopped& e) {
      fmt::print(stderr, "isobar-sim: {}\n", e.what());
      return exit_interrupted;
    }
  });
}
