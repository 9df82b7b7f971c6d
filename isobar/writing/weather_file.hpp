// One frame of an atmosphere as a file, in the climate HDF5 layout or as CF NetCDF, and the statistics of many.
#pragma once

#include <filesystem>
#include <span>

#include "isobar/datasets/weather_series.hpp"

namespace isobar::writing {

/// Writes a frame: climate/data [height, width, 16], labels_0 and labels_1 as float, data_stats [4, 16] with the rows
/// mean, max, min, std, and labels_?_stats [7, 1]: mean, max, min, std, fractions of background, cyclones and rivers.
void write_weather_hdf5(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame,
                        const datasets::WeatherFrame& made);

/// True for a complete file of this frame; false for a damaged one. A file with other settings is an Error.
bool is_weather_hdf5(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame);

/// Writes a frame as CF NetCDF: a variable for every channel over time, lat and lon, and LABELS and LABELS_1.
void write_weather_netcdf(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame,
                          const datasets::WeatherFrame& made);
bool is_weather_netcdf(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame);

/// Throws an Error unless a file says it was made with the settings of the series.
void expect_settings(const std::filesystem::path& path, const std::string& found,
                     const datasets::WeatherSeries& series);

/// Combines the statistics in the HDF5 files into DeepCAM's stats.h5: climate/count, mean, sqmean, minval, maxval.
void write_weather_stats(const std::filesystem::path& path, std::span<const std::filesystem::path> files,
                         const worlds::SphereGrid& grid);

}  // namespace isobar::writing
