// ControlGroup: what the Linux control group (cgroup version 1 or 2) of this process allows. Containers and batch
// systems set it; limits of parent groups apply as well, so all groups on the way up are read.
#pragma once

#include <filesystem>

namespace isobar::machine {

struct ControlGroup {
  double processors = 0;    ///< processor time, in processors; 0: no limit
  double memory_bytes = 0;  ///< 0: no limit
};

/// Reads the limits; what the system does not tell counts as no limit.
ControlGroup control_group(const std::filesystem::path& groups = "/proc/self/cgroup",
                           const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace isobar::machine
