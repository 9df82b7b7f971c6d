// References: published figures for networks of the zoo, for the rows of a run card that compare: the size of a sample,
// the quality reached or required, and the effort. Only what a source states; no entry, no claim.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "isobar/train/target.hpp"

namespace isobar::report {

struct Reference {
  std::string_view network, task;
  std::string_view input = {};     ///< shape of one sample; empty: not stated
  std::int64_t parameters = 0;     ///< of the published network
  std::int64_t train_samples = 0;  ///< of the published set; 0: not stated
  std::string_view metric = {};    ///< as in a recipe, iou(kind=sample); empty: no quality is stated
  std::string_view result = {};    ///< as in Target: iou>=0.82
  bool demanded = false;           ///< the result is a target set by rules, not one that was reached
  std::string_view effort = {};    ///< to reach the result; empty: not stated
  std::string_view source = {};

  std::optional<train::Target> target() const;
};

/// The entry of a network, or null.
const Reference* reference_of(std::string_view network);

std::span<const Reference> references();

}  // namespace isobar::report
