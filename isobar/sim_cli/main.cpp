// The simulator's program: finds the verb, runs it, and turns every failure into one line and an exit code:
// 2 when the call was wrong, 130 when it was stopped and can go on, 1 for anything else.
#include <cstdlib>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/base/text.hpp"
#include "isobar/forecast/scenario_runner.hpp"
#include "isobar/sim_cli/verb.hpp"

namespace isobar::sim_cli {
namespace {

int run_program(int argc, char** argv) {
  CLI::App app(
      "isobar-sim forecasts how a training run would scale on a machine you do not have: the strategies and schedules "
      "that really run, under a simulated clock.",
      "isobar-sim");
  app.set_version_flag("--version", "isobar-sim " ISOBAR_VERSION);
  app.require_subcommand(1);
  for (const Verb* verb : verbs())
    verb->declare(*app.add_subcommand(std::string(verb->name), std::string(verb->summary)));
  try {
    app.parse(argc, argv);
    return stop_requested() ? exit_interrupted : 0;
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
      std::vector<std::string> known;
      for (const Verb* verb : verbs()) known.emplace_back(verb->name);
      fail_usage("unknown verb '{}'{}", argv[1], suggestion(argv[1], known));
    }
    if (argc == 1) {
      fmt::print("{}", app.help());
      return exit_usage;
    }
    const std::string verb = app.get_subcommands().empty() ? "" : app.get_subcommands()[0]->get_name() + " ";
    fail_usage("{} ('isobar-sim {}--help' lists what there is)", e.what(), verb);
  }
}

}  // namespace
}  // namespace isobar::sim_cli

int main(int argc, char** argv) {
  using namespace isobar;
  try {
    instruction_choice();  // a wrong value of its variable is told before anything begins
    return sim_cli::run_program(argc, argv);
  } catch (const UsageError& e) {
    fmt::print(stderr, "isobar-sim: {}\n", e.what());
    return sim_cli::exit_usage;
  } catch (const forecast::Stopped& e) {
    fmt::print(stderr, "isobar-sim: {}\n", e.what());
    return sim_cli::exit_interrupted;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "isobar-sim: out of memory\n");
  } catch (const std::exception& e) {
    fmt::print(stderr, "isobar-sim: {}\n", e.what());
  }
  return sim_cli::exit_failed;
}
