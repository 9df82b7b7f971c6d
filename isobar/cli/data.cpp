// isobar data: makes data sets and shows what is in them. Each of its commands has its own file.
#include "isobar/cli/data.hpp"

#include <algorithm>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

// Answers a missing or unknown subcommand with a list of the existing ones.
void require_known(CLI::App& command) {
  command.require_subcommand(0, 1);
  command.allow_extras();
  command.final_callback([&command] {
    if (!command.get_subcommands().empty()) return;
    std::vector<std::string> known;
    for (const CLI::App* sub : command.get_subcommands({})) known.push_back(sub->get_name());
    const std::vector<std::string> words = command.remaining();
    const bool nested = command.get_parent() && command.get_parent()->get_parent();
    const std::string name = (nested ? command.get_parent()->get_name() + " " : "") + command.get_name();
    if (words.empty()) fail_usage("{}: one of these must follow: {}", name, join(known, ", "));
    fail_usage("{}: unknown '{}'{}", name, words[0], suggestion(words[0], known));
  });
}

void declare_data(CLI::App& command) {
  CLI::App& make = *command.add_subcommand("make", "make a data set from physics");
  declare_atmosphere(make);
  declare_universe(make);
  require_known(make);
  declare_inspect(command);
  declare_convert(command);
  declare_stats(command);
  declare_tokenize(command);
  declare_animate(command);
  require_known(command);
}

}  // namespace

std::function<void(std::int64_t, std::int64_t)> shown_on(record::StatusLine& line) {
  return [&line, begin = now_seconds(), first = std::int64_t{-1}](std::int64_t done, std::int64_t all) mutable {
    if (first < 0) first = done;
    if (!line.due()) return;
    const double seconds = now_seconds() - begin, made = static_cast<double>(done - first);
    std::string text =
        fmt::format("{} {}/{} samples", record::bar(static_cast<double>(done), static_cast<double>(all), 24),
                    with_commas(done), with_commas(all));
    if (made > 0 && seconds > 0)
      text += fmt::format("  {:.3g} a second  left {}", made / seconds,
                          human_seconds(static_cast<double>(all - done) * seconds / made));
    line.show(text);
  };
}

void add_reading_options(CLI::App& command, std::int64_t& samples, int& threads, std::vector<std::string>& transforms) {
  const auto whole = [](std::int64_t least, std::int64_t most) { return CLI::Range(least, most).description(""); };
  command.add_option("--samples", samples, "the first N samples; 0: all")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole(0, std::numeric_limits<std::int64_t>::max()));
  command.add_option("--threads", threads, "readers; 0: one per processor")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole(0, 4096));
  command.add_option("--transform", transforms, "applied to every sample, such as 'crop(size=64)'; can be repeated")
      ->type_name("SPEC")
      ->allow_extra_args(false);
}

int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

extern const Verb data_verb{"data", "make, inspect and convert data sets", declare_data};

}  // namespace isobar::cli
