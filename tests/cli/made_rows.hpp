// Rows of `isobar bench`, written by hand.
#pragma once

#include <fstream>

#include <fmt/format.h>

#include "tests/cli/program.hpp"

// A row with a training step of `seconds`, give or take 5 %.
inline std::string row(const std::string& name, double seconds, const std::string& machine = "a machine") {
  return fmt::format(
      R"({{"level":"networks","name":"{}","problem":"training step, batch 1","entries":[{{"name":"isobar","runs":9,)"
      R"("seconds":{{"median":{},"low":{},"high":{}}},"peak_bytes":4e8}},{{"name":"torch <plain>","runs":9,)"
      R"("seconds":{{"median":2,"low":2,"high":2}},"peak_bytes":1e9}}],"speedup":{{"median":2,"low":2,"high":2}},)"
      R"("asked":{{"speed":2.5,"memory_ratio":0.7}},"profile":[{{"name":"conv1 forward","category":"forward","shape":"",)"
      R"("seconds":0.1,"flops":1e9,"bytes":1e6,"library":true}}],)"
      R"("where":{{"when":"2026-11-16T12:00:00Z","machine":"{}","program":"isobar","threads":2}}}})"
      "\n",
      name, seconds, seconds * 0.95, seconds * 1.05, machine);
}

inline std::string file_with(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}
