#include "isobar/writing/make_atmosphere.hpp"

#include <set>

#include "isobar/base/error.hpp"
#include "isobar/worlds/calendar.hpp"
#include "isobar/writing/weather_file.hpp"

namespace isobar::writing {
namespace {

namespace fs = std::filesystem;

// A part of the set: its folder and its frames.
struct AtmospherePart {
  fs::path folder;
  const datasets::WeatherSeries& series;
  std::int64_t frames;
  bool netcdf;

  const char* extension() const { return netcdf ? ".nc" : ".h5"; }
  fs::path file(std::int64_t frame) const { return folder / (series.name(frame) + extension()); }
  bool has(std::int64_t frame) const {
    return (netcdf ? is_weather_netcdf : is_weather_hdf5)(file(frame), series, frame);
  }
  void write(std::int64_t frame) const {
    (netcdf ? write_weather_netcdf : write_weather_hdf5)(file(frame), series, frame, series.make(frame));
  }
};

// One file to be written.
struct AtmosphereTask {
  const AtmospherePart* part;
  std::int64_t frame;
};

datasets::WeatherOptions century_later(datasets::WeatherOptions options) {
  worlds::WorldDate date = worlds::date_of(worlds::hour_of(options.start));
  date.year += validation_years_later;
  if (date.year > 9999) fail_usage("atmosphere: start = {} leaves no century for validation", options.start);
  options.start = fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
  return options;
}

// Appends the files that a part still needs; counts existing ones in `kept`.
void find_missing(const AtmospherePart& part, std::vector<AtmosphereTask>& tasks, std::int64_t& kept) {
  std::set<std::string> expected;
  std::error_code code;
  for (std::int64_t frame = 0; frame < part.frames; ++frame) {
    const fs::path path = part.file(frame);
    expected.insert(path.filename().string());
    if (fs::exists(path, code) && part.has(frame)) ++kept;
    else tasks.push_back({&part, frame});
  }
  if (!fs::exists(part.folder, code)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(part.folder, code))
    if (entry.path().extension() == part.extension() && !expected.contains(entry.path().filename().string()))
      fail("{}: the folder already holds '{}', which is not among the {} frames requested; remove it or ask for more",
           part.folder.string(), entry.path().filename().string(), part.frames);
  if (code) fail("{}: cannot be listed: {}", part.folder.string(), code.message());
}

datasets::WeatherOptions checked(const AtmosphereFiles& what, int threads) {
  if (what.train < 0 || what.test < 0 || what.train + what.test == 0)
    fail_usage("atmosphere: {} training and {} test frames; at least one frame is needed", what.train, what.test);
  datasets::WeatherOptions options = what.weather;
  // File names count in steps of three hours.
  if (options.hours % 3 != 0) fail_usage("atmosphere: files lie 3, 6, ... hours apart, not {}", options.hours);
  if (what.train * options.hours > std::int64_t{validation_years_later} * 365 * 24)
    fail_usage("atmosphere: {} training frames would reach into the century of validation", what.train);
  options.atmosphere.threads = threads;
  return options;
}

}  // namespace

FilesMade write_atmosphere(const fs::path& directory, const AtmosphereFiles& what, const FileProgress& progress,
                           const std::atomic<bool>* stop) {
  const int threads = threads_for_files(what.threads);
  // Small frames are made side by side; large ones, which take a second each, one after the other with all threads.
  const bool side_by_side = what.weather.atmosphere.height <= 192;
  const datasets::WeatherOptions options = checked(what, side_by_side ? 1 : threads);
  const datasets::WeatherSeries train(options), validation(century_later(options));
  const bool netcdf = what.format == WeatherFormat::netcdf;
  const AtmospherePart parts[] = {{directory / "train", train, what.train, netcdf},
                                  {directory / "validation", validation, what.test, netcdf}};

  std::int64_t kept = 0;
  std::vector<AtmosphereTask> tasks;
  for (const AtmospherePart& part : parts) find_missing(part, tasks, kept);
  for (const AtmospherePart& part : parts)
    if (part.frames > 0) make_folder(part.folder);

  const FilesToMake files_to_make{tasks.size(), side_by_side ? threads : 1, kept, what.train + what.test, progress,
                                  stop};
  const FilesMade result = make_files(files_to_make, [&](std::size_t task, const std::function<bool()>& made) {
    const auto& [part, frame] = tasks[task];
    part->write(frame);
    made();
  });
  if (result.complete && !netcdf) {
    const AtmospherePart& normalised = parts[what.train > 0 ? 0 : 1];
    std::vector<fs::path> files;
    for (std::int64_t frame = 0; frame < normalised.frames; ++frame) files.push_back(normalised.file(frame));
    write_weather_stats(directory / "stats.h5", files, train.atmosphere().grid());
  }
  return result;
}

}  // namespace isobar::writing
