// Handmade records for tests.
#pragma once

#include "isobar/bench/record.hpp"

namespace isobar::tests {

/// A network's training step: ours takes these seconds, the peers two and three times as long.
inline bench::Record made_record(const std::string& name, double median, double low, double high) {
  bench::Record record{"networks", name, "training step, batch 1"};
  record.entries = {{"isobar", {median, low, high}, 12, 4e8},
                    {"torch plain", {2 * median, 2 * low, 2 * high}, 12, 1e9},
                    {"torch channels_last", {3 * median, 3 * low, 3 * high}, 12, 2e9}};
  record.speedup = {2, 1.9, 2.1};
  record.flops = 1e9;
  record.samples = 1;
  record.bare_seconds = median / 1.25;
  record.asked = {1.5, 0.7, 1.15};
  record.facts = {{"loss", 0.25}};
  record.profile = {{"conv1 forward", "forward convolution", "1x8x8x4", 0.01, 5e8, 1e6, true},
                    {"sgd", "optimizer", "", 0.002, 0, 1e7, false}};
  record.where = {"2026-11-16T12:00:00Z", "a machine", "isobar 0.1", 2};
  return record;
}

}  // namespace isobar::tests
