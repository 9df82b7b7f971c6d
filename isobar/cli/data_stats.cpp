// isobar data stats: mean, deviation and range of every channel of a data set, in one pass with many threads.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/cli/data_source.hpp"
#include "isobar/datasets/statistics.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

struct StatsRequest {
  std::string from, out, field = "x";
  std::vector<std::string> transforms;
  std::int64_t samples = 0;
  int threads = 0;
};

std::size_t field_of(const datasets::Dataset& dataset, const std::string& name) {
  std::vector<std::string> known;
  for (const datasets::Field& field : dataset.fields()) known.push_back(field.name);
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) fail_usage("--field: samples have no field '{}'{}", name, suggestion(name, known));
  return static_cast<std::size_t>(found - known.begin());
}

void print_table(const std::vector<datasets::ChannelStatistics>& channels, const std::vector<std::string>& names) {
  std::size_t width = 7;
  for (const std::string& name : names) width = std::max(width, name.size());
  const bool skipped = std::ranges::any_of(channels, [](const auto& c) { return c.skipped > 0; });
  fmt::print("{:>{}} {:>14} {:>14} {:>14} {:>14}{}\n", "channel", width, "min", "mean", "max", "std",
             skipped ? "     not finite" : "");
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const datasets::ChannelStatistics& one = channels[c];
    fmt::print("{:>{}} {:>14.7g} {:>14.7g} {:>14.7g} {:>14.7g}", c < names.size() ? names[c] : fmt::format("{}", c),
               width, one.low, one.mean, one.high, one.deviation());
    if (skipped) fmt::print(" {:>14}", with_commas(one.skipped));
    fmt::print("\n");
  }
}

void stats(const StatsRequest& request) {
  if (!request.out.empty() && std::filesystem::exists(request.out))
    fail("{}: exists already; nothing is written over it", request.out);
  const auto dataset = open_source(request.from, request.transforms);
  catch_signals();
  datasets::StatisticsOptions options{.field = field_of(*dataset, request.field),
                                      .samples = request.samples,
                                      .threads = threads_or_all(request.threads),
                                      .stop = &stop_requested()};
  const double begin = now_seconds();
  std::vector<datasets::ChannelStatistics> channels;
  {
    record::StatusLine line(record::Screen::of(stdout));
    options.progress = shown_on(line);
    channels = datasets::statistics_of(*dataset, options);
  }
  const double seconds = now_seconds() - begin;
  const std::int64_t all = request.samples > 0 ? std::min(request.samples, dataset->size()) : dataset->size();
  double bytes = 0;
  for (const datasets::Field& field : dataset->fields())
    bytes += static_cast<double>(field.shape.count()) * sizeof(float);
  fmt::print("{} samples of {} in {}, {}/s as floats\n\n", with_commas(all),
             dataset->fields()[options.field].shape.str(), human_seconds(seconds),
             human_bytes(bytes * static_cast<double>(all) / std::max(seconds, 1e-9)));
  print_table(channels, options.field == 0 ? dataset->channels() : std::vector<std::string>());
  if (request.out.empty()) return;
  datasets::write_statistics(request.out, channels);
  fmt::print("\n{} holds them. In a recipe:\n\n[data]\ntransforms = [\"{}\"]\n", request.out,
             Spec("normalize", {{"stats", request.out}}).str());
}

}  // namespace

void declare_stats(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("stats", "mean, deviation and range of every channel, in one pass");
  command.footer(
      "The file is HDF5 as DeepCAM's stats.h5: climate/count, mean, sqmean, minval and maxval. The transform\n"
      "'normalize' reads it. NaNs and infinities are counted apart. Threads do not change a bit of the result.");
  const auto request = std::make_shared<StatsRequest>();
  command.add_option("DATA", request->from, "a file, a folder or a data set such as 'hdf5(path=train)'")->required();
  command.add_option("--out", request->out, "the statistics file to write; without it they are only shown")
      ->type_name("FILE");
  command.add_option("--field", request->field, "the field whose last axis are the channels")
      ->capture_default_str()
      ->type_name("NAME");
  add_reading_options(command, request->samples, request->threads, request->transforms);
  command.callback([request] { stats(*request); });
}

}  // namespace isobar::cli
