#include "isobar/machine/control_group.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace isobar::machine {
namespace {

namespace fs = std::filesystem;

// Version 1 says "no limit" with a number near 2^63.
constexpr double no_limit = 1e18;

void lower(double& limit, double found) {
  if (found > 0 && found < no_limit && (limit == 0 || found < limit)) limit = found;
}

// The first number of a file; 0 for "max", or if there is none.
double number(const fs::path& file, double* second = nullptr) {
  std::ifstream in(file);
  std::string first;
  in >> first;
  double next = 0;
  if (second && in >> next) *second = next;
  return std::strtod(first.c_str(), nullptr);
}

// The folders of a group and of those above it, up to the root of the hierarchy.
std::vector<fs::path> way_up(const fs::path& hierarchy, const std::string& group) {
  std::vector<fs::path> folders;
  for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path())
    folders.push_back(hierarchy / at);
  folders.push_back(hierarchy);
  return folders;
}

void read_version_2(ControlGroup& limits, const fs::path& folder) {
  double period = 0;
  const double quota = number(folder / "cpu.max", &period);
  if (period > 0) lower(limits.processors, quota / period);
  lower(limits.memory_bytes, number(folder / "memory.max"));
}

void read_version_1(ControlGroup& limits, const fs::path& folder) {
  const double period = number(folder / "cpu.cfs_period_us");
  if (period > 0) lower(limits.processors, number(folder / "cpu.cfs_quota_us") / period);
  lower(limits.memory_bytes, number(folder / "memory.limit_in_bytes"));
}

}  // namespace

ControlGroup control_group(const fs::path& groups, const fs::path& root) {
  ControlGroup limits;
  std::ifstream in(groups);
  // number:controllers:group; version 2 has no controllers.
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const fs::path& folder : way_up(root, group)) read_version_2(limits, folder);
      continue;
    }
    for (const fs::path& folder : way_up(root / controllers, group)) read_version_1(limits, folder);
  }
  return limits;
}

}  // namespace isobar::machine
