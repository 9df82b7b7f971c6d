// ControlGroup: what the Linux control group of this process allows, in version 1 and 2. Containers and batch systems
// set it; a limit above this process binds it as well, so all groups on the way up are read.
#pragma once

#include <filesystem>

namespace isobar::machine {

struct ControlGroup {
  double processors = 0;    ///< time of so many processors; 0: no limit
  double memory_bytes = 0;  ///< 0: no limit
};

/// Reads the limits; where the system does not tell, there is none.
ControlGroup control_group(const std::filesystem::path& groups = "/proc/self/cgroup",
                           const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace isobar::machine
