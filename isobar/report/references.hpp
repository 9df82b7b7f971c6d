// References: what is published of the networks of the zoo, for the rows of a run card that compare: the size of a
// sample, the quality that was reached or is demanded, and what it took. Only what a source states; no entry, no claim.
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
  std::string_view metric = {};    ///< of the recipe, as iou(kind=sample); empty: no quality is stated
  std::string_view result = {};    ///< as in Target: iou>=0.82
  bool demanded = false;           ///< the result is a target of rules, not what somebody reached
  std::string_view effort = {};    ///< what it took there; empty: not stated
  std::string_view source = {};

  std::optional<train::Target> target() const;
};

/// The entry of a network, or null.
const Reference* reference_of(std::string_view network);

std::span<const Reference> references();

}  // namespace isobar::report
