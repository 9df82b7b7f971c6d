#include "isobar/report/figures.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace isobar::report {
namespace {

template <std::size_t N>
Unit unit(double largest, const std::array<std::pair<double, const char*>, N>& units) {
  Unit chosen{units.back().first, units.back().second};
  for (const auto& [size, name] : units) {
    if (largest < size) continue;
    chosen = {size, name};
    break;
  }
  const double number = largest / chosen.size;
  chosen.decimals = number >= 1000 ? 0 : number >= 100 ? 1 : number >= 10 ? 2 : 3;
  return chosen;
}

}  // namespace

std::string Unit::text(double value) const { return fmt::format("{:.{}f}", value / size, decimals); }

Unit seconds_unit(double largest) {
  static constexpr std::array<std::pair<double, const char*>, 3> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}}};
  static constexpr std::array<std::pair<double, const char*>, 1> milliseconds{{{1e-3, "ms"}}};
  return largest >= 1 && largest < 10 ? unit(largest, milliseconds) : unit(largest, units);  // steps are given in ms
}

Unit flops_unit(double largest) {
  static constexpr std::array<std::pair<double, const char*>, 4> units{
      {{1e15, "PF"}, {1e12, "TF"}, {1e9, "GF"}, {1e6, "MF"}}};
  return unit(largest, units);
}

Unit bytes_unit(double largest) {
  static constexpr std::array<std::pair<double, const char*>, 3> units{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  return unit(largest, units);
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string();
}

}  // namespace isobar::report
