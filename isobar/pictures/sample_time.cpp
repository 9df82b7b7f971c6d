#include "isobar/pictures/sample_time.hpp"

#include <algorithm>
#include <chrono>
#include <regex>
#include <string>

namespace isobar::pictures {
namespace {

constexpr std::int64_t least_samples = 4, most_hours_apart = 24;

}  // namespace

std::optional<std::int64_t> hour_in(std::string_view text) {
  static const std::regex date(R"((\d{4})-(\d{2})-(\d{2})(?:-(\d{2})|[ T](\d{2}):\d{2})?)");
  std::optional<std::int64_t> hour;
  const std::string whole(text.substr(text.size() > 4096 ? text.size() - 4096 : 0));
  for (std::sregex_iterator found(whole.begin(), whole.end(), date), end; found != end; ++found) {
    const auto number = [&](std::size_t group) {
      return (*found)[group].matched ? std::stoi((*found)[group].str()) : 0;
    };
    const std::chrono::sys_days day =
        std::chrono::year(number(1)) / std::chrono::month(number(2)) / std::chrono::day(number(3));
    if (number(2) < 1 || number(2) > 12 || number(3) < 1 || number(3) > 31) continue;
    hour = 24 * std::int64_t{day.time_since_epoch().count()} + 3 * number(4) + number(5);
  }
  return hour;
}

std::int64_t consecutive_samples(const datasets::Dataset& dataset, std::int64_t most) {
  std::optional<std::int64_t> before;
  std::int64_t count = 0, hours = 0;
  for (; count < std::min(most, dataset.size()); ++count) {
    const std::optional<std::int64_t> hour = hour_in(dataset.where(count));
    if (!hour || (before && (*hour < *before || *hour - *before > most_hours_apart))) break;
    if (before) hours += *hour - *before;
    before = hour;
  }
  // Samples that all have the same time are not a sequence.
  return count >= least_samples && hours > 0 ? count : 0;
}

}  // namespace isobar::pictures
