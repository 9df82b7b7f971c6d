// Writing an atmosphere in the layouts of the climate data sets: directory/train and directory/validation, one frame
// per file, and directory/stats.h5 with the numbers that normalise the training frames. Validation takes the same run
// from a century later: no weather is in both, and a set can be extended later without moving a sample.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "isobar/datasets/weather_series.hpp"
#include "isobar/writing/make_files.hpp"

namespace isobar::writing {

inline constexpr int validation_years_later = 100;

/// How frames become files.
enum class WeatherFormat {
  hdf5,   ///< the layout of the original climate files and of DeepCAM, with stats.h5
  netcdf  ///< CF conventions; `isobar data stats` makes the statistics to normalise them
};

/// What to write.
struct AtmosphereFiles {
  datasets::WeatherOptions weather;
  WeatherFormat format = WeatherFormat::hdf5;
  std::int64_t train = 64, test = 8;  ///< frames
  int threads = 0;                    ///< 0: one per processor; affects only the time
};

/// Writes the files that do not exist yet, each completely or not at all. Complete files of the same settings are kept;
/// other settings are an Error before anything is written. `progress` (frames done, all frames) is called by one thread
/// at a time; setting `stop` ends the work after the files being written.
FilesMade write_atmosphere(const std::filesystem::path& directory, const AtmosphereFiles& what,
                           const FileProgress& progress = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace isobar::writing
