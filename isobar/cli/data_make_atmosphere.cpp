// isobar data make atmosphere: climate states with labelled storms and rivers, in the layout of the climate data sets.
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/writing/make_atmosphere.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct AtmosphereRequest {
  std::string out;
  writing::AtmosphereFiles what{};
};

std::string reader(const fs::path& folder, writing::WeatherFormat format) {
  if (format == writing::WeatherFormat::netcdf) {
    std::vector<Value> names;
    for (const worlds::ChannelInfo& channel : worlds::channels) names.emplace_back(std::string(channel.name));
    return Spec("netcdf", {{"path", folder.string()}, {"x", std::move(names)}, {"y", "LABELS"}}).str();
  }
  return Spec("hdf5", {{"path", folder.string()}, {"layout", "climate"}}).str();
}

void make_atmosphere(const AtmosphereRequest& request) {
  catch_signals();
  const double begin = now_seconds();
  writing::FilesMade done;
  {
    record::StatusLine line(record::Screen::of(stdout));
    done = writing::write_atmosphere(request.out, request.what, shown_on(line), &stop_requested());
  }
  const writing::AtmosphereFiles& what = request.what;
  if (!done.complete)
    fail("stopped: {} of {} samples are in {}; the same command makes the rest", done.written + done.kept,
         what.train + what.test, request.out);
  fmt::print("{}: {} training and {} validation samples of {} x {} x 16", request.out, with_commas(what.train),
             with_commas(what.test), what.weather.atmosphere.height, what.weather.atmosphere.width);
  fmt::print(" ({} made in {}", with_commas(done.written), human_seconds(now_seconds() - begin));
  if (done.kept > 0) fmt::print(", {} were there", with_commas(done.kept));
  fmt::print(")\nIn a recipe:\n\n[data]\n");
  if (what.train > 0) fmt::print("train = \"{}\"\n", reader(fs::path(request.out) / "train", what.format));
  if (what.test > 0) fmt::print("test = \"{}\"\n", reader(fs::path(request.out) / "validation", what.format));
  if (what.format == writing::WeatherFormat::hdf5)
    fmt::print("transforms = [\"{}\"]\n",
               Spec("normalize", {{"stats", (fs::path(request.out) / "stats.h5").string()}}).str());
}

}  // namespace

void add_weather_options(CLI::App& command, datasets::WeatherOptions& weather) {
  const auto option = [&](const char* name, auto& value, const char* type, const char* meaning) {
    command.add_option(name, value, meaning)->type_name(type)->capture_default_str();
  };
  option("--height", weather.atmosphere.height, "N", "points from pole to pole");
  option("--width", weather.atmosphere.width, "N", "points around the earth");
  option("--start", weather.start, "DAY", "the first day, such as 2000-07-15, in years of 365 days");
  option("--hours", weather.hours, "N", "hours from frame to frame");
  option("--seed", weather.atmosphere.seed, "N", "names the weather");
  option("--run", weather.atmosphere.run, "N", "another weather of the same seed");
}

void declare_atmosphere(CLI::App& make) {
  CLI::App& command = *make.add_subcommand("atmosphere", "climate states with labelled cyclones and rivers");
  command.footer(
      "Writes files in the layout of the climate data sets, one state each, into DIR/train and DIR/validation:\n"
      "climate/data holds sixteen channels, climate/labels_0 and labels_1 the classes 0 background, 1 tropical "
      "cyclone,\n"
      "2 atmospheric river, found by rules in the channels; DIR/stats.h5 what normalises them, as DeepCAM's does.\n"
      "Existing files are kept, so that a stopped command can continue and a set can grow.");
  const auto request = std::make_shared<AtmosphereRequest>();
  writing::AtmosphereFiles& what = request->what;
  const auto whole = [](std::int64_t least, std::int64_t most) { return CLI::Range(least, most).description(""); };
  const auto option = [&](const char* name, auto& value, const char* type, const char* meaning) {
    return command.add_option(name, value, meaning)->type_name(type)->capture_default_str();
  };
  command.add_option("--out", request->out, "the folder to write into")->required()->type_name("DIR");
  option("--train", what.train, "N", "training samples")->check(whole(0, 1'000'000'000));
  option("--test", what.test, "N", "validation samples, of another century")->check(whole(0, 1'000'000'000));
  add_weather_options(command, what.weather);
  const std::map<std::string, writing::WeatherFormat> formats{{"hdf5", writing::WeatherFormat::hdf5},
                                                              {"netcdf", writing::WeatherFormat::netcdf}};
  command.add_option("--format", what.format, "hdf5: the climate layout; netcdf: a CF file for each sample")
      ->transform(CLI::CheckedTransformer(formats).description(""))
      ->type_name("hdf5|netcdf")
      ->default_str("hdf5");
  option("--threads", what.threads, "N", "0: one per processor")->check(whole(0, 4096));
  command.callback([request] { make_atmosphere(*request); });
}

}  // namespace isobar::cli
