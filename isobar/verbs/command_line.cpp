#include "isobar/verbs/command_line.hpp"

#include <exception>
#include <new>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/base/text.hpp"

namespace isobar {

int run_program(const Program& program, int argc, char** argv) {
  CLI::App app(program.about, program.name);
  app.set_version_flag("--version", fmt::format("{} {}", program.name, program.version));
  app.require_subcommand(1);
  for (const Verb* verb : program.verbs)
    verb->declare(*app.add_subcommand(std::string(verb->name), std::string(verb->summary)));
  try {
    app.parse(argc, argv);
    return stop_requested() ? exit_interrupted : 0;
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // set by a verb
  } catch (const CLI::ParseError& e) {
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
      std::vector<std::string> known;
      for (const Verb* verb : program.verbs) known.emplace_back(verb->name);
      fail_usage("unknown verb '{}'{}", argv[1], suggestion(argv[1], known));
    }
    if (argc == 1) {
      fmt::print("{}", app.help());
      return exit_usage;
    }
    std::string path;  // the words understood so far: "data make "
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
      at = at->get_subcommands()[0];
      path += at->get_name() + " ";
    }
    fail_usage("{} ('{} {}--help' lists the options)", e.what(), program.name, path);
  }
}

int end_of(const std::string& name, const std::function<int()>& work) {
  try {
    instruction_choice();  // reports an invalid value of its variable before anything begins
    return work();
  } catch (const UsageError& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    return exit_usage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: out of memory\n", name);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
  }
  return exit_failed;
}

}  // namespace isobar
