// isobar data make universe: dark-matter volumes with the parameters that shaped them, as HDF5 files.
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
#include "isobar/writing/make_universe.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

// Files is writing::UniverseFiles or writing::AtmosphereFiles.
template <class Files>
struct MakeRequest {
  std::string out;
  Files what{};
};

// Adds options that show their defaults.
struct ShownOptions {
  CLI::App& command;

  template <class T>
  CLI::Option* operator()(const char* name, T& value, const char* type, const char* meaning) const {
    return command.add_option(name, value, meaning)->type_name(type)->capture_default_str();
  }
};

CLI::Validator whole(std::int64_t least, std::int64_t most) { return CLI::Range(least, most).description(""); }

// Calls write(out, what, progress, stop) and prints what was made; a recipe's settings follow.
template <class Files, class Write>
void make_files(const MakeRequest<Files>& request, const char* tests, const std::string& sample, Write write) {
  catch_signals();
  const double begin = now_seconds();
  writing::FilesMade done;
  {
    record::StatusLine line(record::Screen::of(stdout));
    done = write(request.out, request.what, shown_on(line), &stop_requested());
  }
  const std::int64_t train = request.what.train, test = request.what.test;
  if (!done.complete)
    fail("stopped: {} of {} samples are in {}; the same command makes the rest", done.written + done.kept, train + test,
         request.out);
  fmt::print("{}: {} training and {} {} samples of {} ({} made in {}", request.out, with_commas(train),
             with_commas(test), tests, sample, with_commas(done.written), human_seconds(now_seconds() - begin));
  if (done.kept > 0) fmt::print(", {} were there", with_commas(done.kept));
  fmt::print(")\nIn a recipe:\n\n[data]\n");
}

void make_universe(const MakeRequest<writing::UniverseFiles>& request) {
  const writing::UniverseFiles& what = request.what;
  make_files(request, "test", fmt::format("{}^3 x {}", what.size, what.family.redshifts.size()),
             writing::write_universe);
  const auto reader = [&](const char* part) {
    return Spec("hdf5", {{"path", (fs::path(request.out) / part).string()}, {"log", true}}).str();
  };
  if (what.train > 0) fmt::print("train = \"{}\"\n", reader("train"));
  if (what.test > 0) fmt::print("test = \"{}\"\n", reader("test"));
}

std::string weather_reader(const fs::path& folder, writing::WeatherFormat format) {
  if (format == writing::WeatherFormat::netcdf) {
    std::vector<Value> names;
    for (const worlds::ChannelInfo& channel : worlds::channels) names.emplace_back(std::string(channel.name));
    return Spec("netcdf", {{"path", folder.string()}, {"x", std::move(names)}, {"y", "LABELS"}}).str();
  }
  return Spec("hdf5", {{"path", folder.string()}, {"layout", "climate"}}).str();
}

void make_atmosphere(const MakeRequest<writing::AtmosphereFiles>& request) {
  const writing::AtmosphereFiles& what = request.what;
  const fs::path out = request.out;
  make_files(request, "validation",
             fmt::format("{} x {} x 16", what.weather.atmosphere.height, what.weather.atmosphere.width),
             writing::write_atmosphere);
  if (what.train > 0) fmt::print("train = \"{}\"\n", weather_reader(out / "train", what.format));
  if (what.test > 0) fmt::print("test = \"{}\"\n", weather_reader(out / "validation", what.format));
  if (what.format == writing::WeatherFormat::hdf5)
    fmt::print("transforms = [\"{}\"]\n", Spec("normalize", {{"stats", (out / "stats.h5").string()}}).str());
}

}  // namespace

void declare_universe(CLI::App& make) {
  CLI::App& command = *make.add_subcommand("universe", "dark-matter volumes with the parameters that shaped them");
  command.footer(
      "Writes HDF5 files in the layout of MLPerf CosmoFlow, one sample each, into DIR/train and DIR/test: x holds\n"
      "particle counts at several redshifts, y the targets Omega_m, sigma_8, n_s and H_0, scaled to [-1, 1].\n"
      "Existing files are kept, so that a stopped command can continue and a set can grow.");
  const auto request = std::make_shared<MakeRequest<writing::UniverseFiles>>();
  writing::UniverseFiles& what = request->what;
  const ShownOptions option{command};
  command.add_option("--out", request->out, "the folder to write into")->required()->type_name("DIR");
  option("--train", what.train, "N", "training samples")->check(whole(0, 1'000'000'000));
  option("--test", what.test, "N", "test samples, of other universes")->check(whole(0, 1'000'000'000));
  option("--size", what.size, "N", "edge of a sample in cells");
  option("--mesh", what.family.mesh, "N", "edge of a universe in mesh cells, one particle each: a power of two");
  option("--merge", what.merge, "N", "mesh cells along an edge counted as one cell; size x merge divides the mesh");
  option("--cell", what.family.cell, "LENGTH", "edge of a cell in Mpc/h");
  command.add_flag_callback(
      "--fixed-box", [&what] { what.family.scale_with_h0 = false; },
      "the same box in Mpc/h for all universes, instead of one that grows with H_0 as CosmoFlow's did");
  option("--redshifts", what.family.redshifts, "Z", "one channel each");
  option("--spread", what.family.spread, "PART", "parameters lie within nominal * (1 +- PART)");
  option("--seed", what.family.seed, "N", "names the family of universes");
  option("--threads", what.threads, "N", "0: one per processor")->check(whole(0, 4096));
  command.callback([request] { make_universe(*request); });
}

void add_weather_options(CLI::App& command, datasets::WeatherOptions& weather) {
  const ShownOptions option{command};
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
  const auto request = std::make_shared<MakeRequest<writing::AtmosphereFiles>>();
  writing::AtmosphereFiles& what = request->what;
  const ShownOptions option{command};
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
