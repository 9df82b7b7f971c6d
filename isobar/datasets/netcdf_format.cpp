#include "isobar/datasets/netcdf_format.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/netcdf_axes.hpp"
#include "isobar/hdf5/netcdf_packing.hpp"

namespace isobar::datasets {
namespace {

using hdf5::NetcdfFile;
using hdf5::NetcdfVariable;

bool named_as_labels(const NetcdfVariable& variable) {
  return lower_case(variable.name).find("label") != std::string::npos;
}

bool is_coordinate(const NetcdfFile& file, const NetcdfVariable& variable) {
  if (variable.dimensions.size() == 1 && coordinate_of(file, variable.dimensions[0]) == &variable) return true;
  return std::ranges::any_of(file.variables(), [&](const NetcdfVariable& other) {
    return other.text("bounds") == variable.name || other.text("climatology") == variable.name;
  });
}

std::string shape_text(const NetcdfFile& file, const NetcdfVariable& variable) {
  std::vector<std::string> axes;
  for (const std::size_t d : variable.dimensions) {
    const hdf5::NetcdfDimension& dimension = file.dimensions()[d];
    axes.push_back(fmt::format("{}={}", one_line(dimension.name, 40), dimension.size));
  }
  return axes.empty() ? "single" : join(axes, " ");
}

std::string note_of(const NetcdfVariable& variable) {
  std::vector<std::string> facts;
  for (const char* key : {"long_name", "units"})
    if (const std::string text = variable.text(key); !text.empty()) facts.push_back(one_line(text, 60));
  if (variable.is_numbers())
    if (const std::string packing = hdf5::NetcdfPacking(variable).describe(); !packing.empty())
      facts.push_back(packing);
  return join(facts, ", ");
}

// "8 steps from 2005-01-01 00:00:00 to 2005-01-01 21:00:00", or "" without a time.
std::string span_of_times(const NetcdfFile& file) {
  for (std::size_t d = 0; d < file.dimensions().size(); ++d) {
    const std::int64_t size = file.dimensions()[d].size;
    if (size == 0 || role_of(file, d) != AxisRole::time) continue;
    const NetcdfTimes times = times_along(file, d);
    const std::string steps = size == 1 ? "1 step" : fmt::format("{} steps", size);
    if (times.instants.empty()) return fmt::format("{} ({})", steps, times.obstacle);
    const auto [first, last] = std::ranges::minmax(times.instants);
    if (size == 1) return fmt::format("{} at {}", steps, date_of(times.calendar, first).str());
    return fmt::format("{} from {} to {}", steps, date_of(times.calendar, first).str(),
                       date_of(times.calendar, last).str());
  }
  const NetcdfTimes times = time_of_file(file);
  return times.instants.empty() ? "" : "at " + date_of(times.calendar, times.instants[0]).str();
}

}  // namespace

NetcdfGuess guess_variables(const NetcdfFile& file, std::string_view time) {
  struct Candidate {
    const NetcdfVariable* variable;
    std::vector<std::size_t> grid;
    bool timed;
  };
  std::vector<Candidate> candidates;
  NetcdfGuess guess;
  for (const NetcdfVariable& variable : file.variables()) {
    if (!variable.is_numbers() || is_coordinate(file, variable)) continue;
    const NetcdfAxes axes = axes_of(file, variable, time);
    if (named_as_labels(variable)) {
      if (guess.y.empty()) guess.y = variable.name;
      continue;
    }
    Candidate candidate{&variable, {}, axes.time.has_value()};
    for (const std::size_t axis : axes.space) candidate.grid.push_back(variable.dimensions[axis]);
    if (!candidate.grid.empty()) candidates.push_back(std::move(candidate));
  }
  // Grids with more axes win; among equals, variables that change in time.
  const auto rank = [](const Candidate& c) { return 2 * std::min(c.grid.size(), std::size_t{2}) + c.timed; };
  const auto best = std::ranges::max_element(candidates, {}, rank);
  for (const Candidate& candidate : candidates)
    if (candidate.grid == best->grid && candidate.timed == best->timed) guess.x.push_back(candidate.variable->name);
  return guess;
}

std::vector<std::filesystem::path> list_netcdf(const std::filesystem::path& path) {
  return list_files(path, {".nc", ".nc4", ".cdf", ".netcdf"});
}

bool recognises_netcdf(const Glance& glance) {
  for (const char* classic : {"CDF\1", "CDF\2", "CDF\5"})
    if (glance.begins(classic)) return true;
  return glance.begins("\x89HDF\r\n\x1a\n") && has_netcdf_marks(glance);
}

bool has_netcdf_marks(const Glance& glance) {
  if (named_so(glance.inside[0], {".nc", ".nc4", ".cdf", ".netcdf"})) return true;
  // Marks that the NetCDF library leaves in the first object headers of its files.
  const std::string_view head(reinterpret_cast<const char*>(glance.head.data()), glance.head.size());
  return head.find("_NCProperties") != head.npos || head.find("_Netcdf4Dimid") != head.npos;
}

Contents look_netcdf(const Glance& glance) {
  const std::filesystem::path first = glance.folder ? list_netcdf(glance.path)[0] : glance.inside[0];
  const NetcdfFile file(first);
  Contents contents;
  contents.summary = file.kind();
  if (glance.folder)
    contents.summary += fmt::format(", {} files; in the first, {}", list_netcdf(glance.path).size(),
                                    first.lexically_relative(glance.path).string());
  if (const std::string times = span_of_times(file); !times.empty()) contents.summary += ": " + times;
  for (const NetcdfVariable& variable : file.variables())
    contents.parts.push_back({one_line(variable.name, 60), shape_text(file, variable),
                              variable.type + (variable.storage.empty() ? "" : ", ") + variable.storage,
                              note_of(variable)});
  const NetcdfGuess guess = guess_variables(file, "");
  if (guess.x.empty()) {
    contents.obstacle = "no variable has a grid; x=[NAME, ...] and time=DIMENSION choose others";
    return contents;
  }
  Spec reader("netcdf", {{"path", glance.path.string()}});
  reader.set("x", std::vector<Value>(guess.x.begin(), guess.x.end()));
  if (!guess.y.empty()) reader.set("y", guess.y);
  contents.readers.push_back(reader);
  // Steps that are not times, such as the months of a mean year, may still be the samples.
  const NetcdfVariable& leader = file.variable(guess.x[0]);
  const NetcdfAxes axes = axes_of(file, leader, "");
  for (const std::size_t axis : axes.channels) {
    if (axes.time || axis == axes.level || leader.shape[axis] < 2) continue;
    reader.set("time", file.dimensions()[leader.dimensions[axis]].name);
    contents.readers.push_back(reader);
  }
  return contents;
}

}  // namespace isobar::datasets
