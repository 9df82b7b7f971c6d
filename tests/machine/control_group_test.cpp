#include "isobar/machine/control_group.hpp"

#include <fstream>
#include <map>
#include <stdexcept>
#include <stdlib.h>
#include <string>

#include <gtest/gtest.h>

namespace isobar::machine {
namespace {

namespace fs = std::filesystem;

// The limits read from a tree of these files; "groups" stands for /proc/self/cgroup.
ControlGroup limits(const std::map<std::string, std::string>& files) {
  std::string name = (fs::temp_directory_path() / "isobar-bench-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  const fs::path root = name;
  for (const auto& [path, text] : files) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  const ControlGroup found = control_group(root / "groups", root);
  fs::remove_all(root);
  return found;
}

TEST(ControlGroup, VersionTwoTakesTheLeastOnTheWayUp) {
  const ControlGroup found = limits({{"groups", "0::/job/step"},
                                     {"job/step/cpu.max", "max 100000"},
                                     {"job/step/memory.max", "8000000000"},
                                     {"job/cpu.max", "150000 100000"},
                                     {"job/memory.max", "max"}});
  EXPECT_DOUBLE_EQ(found.processors, 1.5);
  EXPECT_DOUBLE_EQ(found.memory_bytes, 8e9);
}

TEST(ControlGroup, VersionTwoInsideAContainer) {
  const ControlGroup found = limits({{"groups", "0::/"}, {"cpu.max", "200000 100000"}, {"memory.max", "1000000"}});
  EXPECT_DOUBLE_EQ(found.processors, 2);
  EXPECT_DOUBLE_EQ(found.memory_bytes, 1e6);
}

TEST(ControlGroup, VersionOne) {
  const ControlGroup found = limits({{"groups", "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/a"},
                                     {"memory/memory.limit_in_bytes", "9223372036854771712"},
                                     {"memory/a/b/memory.limit_in_bytes", "5000000"},
                                     {"cpu,cpuacct/a/cpu.cfs_quota_us", "50000"},
                                     {"cpu,cpuacct/a/cpu.cfs_period_us", "100000"}});
  EXPECT_DOUBLE_EQ(found.processors, 0.5);
  EXPECT_DOUBLE_EQ(found.memory_bytes, 5e6);
}

TEST(ControlGroup, NoLimitIsZero) {
  for (const auto& files :
       {std::map<std::string, std::string>{},
        {{"groups", "0::/"}, {"cpu.max", "max 100000"}, {"memory.max", "max"}},
        {{"groups", "1:cpu:/"}, {"cpu/cpu.cfs_quota_us", "-1"}, {"cpu/cpu.cfs_period_us", "100000"}},
        {{"groups", "nonsense"}}}) {
    const ControlGroup found = limits(files);
    EXPECT_EQ(found.processors, 0);
    EXPECT_EQ(found.memory_bytes, 0);
  }
}

}  // namespace
}  // namespace isobar::machine
