#include "isobar/base/bytes.hpp"

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "isobar/base/error.hpp"

namespace isobar {

std::size_t read_bytes(std::string_view text, std::string_view what) {
  static constexpr std::array<std::pair<std::string_view, double>, 10> units{{{"", 1.0},
                                                                              {"B", 1.0},
                                                                              {"kB", 1e3},
                                                                              {"MB", 1e6},
                                                                              {"GB", 1e9},
                                                                              {"TB", 1e12},
                                                                              {"KiB", 1024.0},
                                                                              {"MiB", 1048576.0},
                                                                              {"GiB", 1073741824.0},
                                                                              {"TiB", 1099511627776.0}}};
  double number = 0;
  const auto [rest, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::string_view unit = text.substr(rest - text.data());
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, size] : units) {
    if (problem != std::errc{} || unit != name) continue;
    const double bytes = number * size;
    if (bytes >= 1 && bytes <= 1e18) return static_cast<std::size_t>(bytes);
  }
  fail_usage("{} = '{}' is not an amount of memory; valid are for example 4GB, 1.5GiB and 800MB", what, text);
}

}  // namespace isobar
