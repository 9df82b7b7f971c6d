// The program: finds the verb, runs it, and turns every failure into one line and an exit code:
// 2 when the call was wrong, 130 when it was stopped and can go on, 1 for anything else.
#include <cstdlib>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/sibling.hpp"
#include "isobar/cli/verb.hpp"
#include "isobar/comm_mpi/launch.hpp"
#include "isobar/control/shield.hpp"
#include "isobar/machine/versions.hpp"

namespace isobar::cli {

namespace {

// Before anything else has begun: this process stays behind, and another one becomes the rank.
void raise_shield_if_supervised() {
  if (const comm_mpi::Launch launch = comm_mpi::launched(); !launch.launcher.empty())
    control::raise_shield(launch.rank, comm_mpi::left_behind());
}

int run_program(int argc, char** argv) {
  CLI::App app("Isobar trains scientific deep networks on CPUs, from a laptop to a supercomputer.", "isobar");
  app.set_version_flag("--version", "isobar " + machine::program_version());
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& e) { return fmt::format("isobar: {}\n", e.what()); });
  for (const Verb* verb : verbs())
    verb->declare(*app.add_subcommand(std::string(verb->name), std::string(verb->summary)));
  try {
    app.parse(argc, argv);
    return stop_requested() ? exit_interrupted : 0;
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // of what a verb has run
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
    std::string path;  // as far as the words were understood: "data make "
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
      at = at->get_subcommands()[0];
      path += at->get_name() + " ";
    }
    fail_usage("{} ('isobar {}--help' lists what there is)", e.what(), path);
  }
}

}  // namespace
}  // namespace isobar::cli

int main(int argc, char** argv) {
  try {
    isobar::instruction_choice();  // a wrong value of its variable is told before anything begins
    isobar::cli::become_sibling_if_needed(argv);
    isobar::cli::raise_shield_if_supervised();
    return isobar::cli::run_program(argc, argv);
  } catch (const isobar::UsageError& e) {
    fmt::print(stderr, "isobar: {}\n", e.what());
    return isobar::cli::exit_usage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "isobar: out of memory\n");
  } catch (const std::exception& e) {
    fmt::print(stderr, "isobar: {}\n", e.what());
  }
  return isobar::cli::exit_failed;
}
