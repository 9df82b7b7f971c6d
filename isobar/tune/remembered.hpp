// What tuning found, remembered in the user's cache folder: one file per machine, level of instructions, number of
// threads, network and batch. It is written after every layer, so that measurements survive an interruption.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/instructions.hpp"
#include "isobar/base/spec.hpp"
#include "isobar/tune/planner.hpp"

namespace isobar::tune {

/// Everything found so far, and the options it was found with.
struct TuningRecord {
  std::size_t workspace = 0;
  bool inexact = false;
  bool complete = false;  ///< all layers were measured
  std::vector<Finding> findings{};
};

/// Where the findings for a network are kept, and what they belong to.
struct TuningCache {
  std::string key{};             ///< processor, instructions, threads, network and batch, in one line
  std::filesystem::path file{};  ///< empty: nothing is remembered
};

TuningCache tuning_cache(std::string_view processor, int threads, std::string_view network, std::int64_t batch,
                         Instructions level = instructions());

/// The contents of a file; `problem` says in a few words why an existing file cannot be used.
struct Remembered {
  std::optional<TuningRecord> record{};
  std::string problem{};
};

Remembered read_tuning(const TuningCache& cache);
void write_tuning(const TuningCache& cache, const TuningRecord& record);

/// The text of the file, and back; parsing fails (nullopt) unless the text is whole and has this key.
std::string record_text(const TuningRecord& record, std::string_view key);
std::optional<TuningRecord> parse_record(std::string_view text, std::string_view key);

/// Where the findings for a network are kept, for this processor and the current number of threads.
TuningCache cache_of(const Spec& model, std::int64_t batch);

/// What is remembered, or null; prints one line about a file that cannot be used.
std::shared_ptr<const ops::Tuning> known_tuning(const Spec& model, std::int64_t batch);

}  // namespace isobar::tune
