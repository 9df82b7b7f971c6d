// NetcdfSeries: which file, and which step along its time, a sample of NetCDF files comes from. Files are sorted by
// their times; a variable may be in separate files, which are then joined by time. A variable without time belongs to
// every sample: it comes from the sample's file, or else from the first file that has it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isobar/datasets/netcdf_axes.hpp"
#include "isobar/datasets/survey.hpp"

namespace isobar::datasets {

/// Which samples of the files are wanted.
struct NetcdfChoice {
  std::vector<std::string> variables;
  std::string time;      ///< the dimension that numbers samples; "": the time dimension
  std::string from, to;  ///< dates: from the first on, before the second; "": no limit
  std::int64_t every = 1;
};

/// Where a variable of a sample is; step -1 if the variable has no time.
struct NetcdfStep {
  std::size_t file = 0;
  std::int64_t step = -1;
};

/// Files that are open while a data set is made, by their numbers.
using NetcdfFiles = std::map<std::size_t, hdf5::NetcdfFile>;

class NetcdfSeries {
 public:
  /// Opens the files that are neither in `opened` nor known to the survey; those that gave some variable first stay in
  /// `opened`.
  NetcdfSeries(std::vector<std::filesystem::path> files, NetcdfChoice choice, NetcdfFiles& opened, Survey& survey);

  std::int64_t size() const { return size_; }
  void limit(std::int64_t samples);
  const std::vector<std::filesystem::path>& files() const { return files_; }
  /// Where a variable is, numbered as in the choice.
  const NetcdfStep& at(std::int64_t sample, std::size_t variable) const;
  /// The first file that has a variable.
  std::size_t first_file(std::size_t variable) const { return first_[variable]; }
  /// "2005-01-23 06:00:00", or "" if the files have no times.
  std::string date(std::int64_t sample) const;
  /// Whether samples have times, the calendar of these times, and the time of a sample.
  bool dated() const { return undated_.empty(); }
  hdf5::Calendar calendar() const { return calendar_.value_or(hdf5::Calendar::standard); }
  hdf5::Instant instant(std::int64_t sample) const { return keys_[sample]; }

 private:
  /// One step of one variable; steps without a date use their number instead.
  struct Entry {
    hdf5::Instant key = 0;
    NetcdfStep place;
  };
  struct Found;
  struct FileTimes;

  void add_file(std::size_t number, const FileTimes& file, std::vector<Found>& found);
  void choose(std::vector<Entry>& entries) const;
  void join(const std::vector<Found>& found);

  std::vector<std::filesystem::path> files_;
  NetcdfChoice choice_;
  std::int64_t size_ = 0;
  std::vector<NetcdfStep> places_;  // the variables of a sample are together
  std::vector<hdf5::Instant> keys_;
  std::vector<std::size_t> first_;
  std::optional<hdf5::Calendar> calendar_;
  std::string undated_;  // why there are no dates; empty if there are
};

}  // namespace isobar::datasets
