#include "isobar/bench/methods.hpp"

#include <fmt/format.h>

#include "isobar/bench/summary.hpp"
#include "isobar/ops/conv_methods.hpp"
#include "isobar/tune/compare_methods.hpp"

namespace isobar::bench {

std::vector<Record> measure_methods(const std::string& spec, const Shape& x, int rounds) {
  tune::KernelTimer timer({.runs = 3, .seconds = 0.3});
  std::vector<Record> records;
  std::vector<std::vector<double>> seconds;
  for (int round = 0; round < rounds; ++round) {
    const auto all = tune::compare_methods(spec, x, timer);
    seconds.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      seconds[i].push_back(all[i].seconds);
      if (round > 0) continue;
      Record& record = records.emplace_back(
          Record{"operators", spec,
                 fmt::format("{} by {}, {}", ops::direction_name(all[i].direction), all[i].method, x.str())});
      record.flops = all[i].flops;
      record.workspace_bytes = static_cast<double>(all[i].workspace);
      record.facts = {{"work, GF", all[i].work * 1e-9}, {"taken without tuning", all[i].usual ? 1.0 : 0.0}};
    }
  }
  for (std::size_t i = 0; i < records.size(); ++i) records[i].entries = {{"isobar", summarize(seconds[i]), rounds}};
  return records;
}

}  // namespace isobar::bench
