// TFRecord files as `isobar data inspect` and `convert` see them. A record written here also describes its bytes in the
// features "x/shape" and "x/type", which other readers ignore.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "isobar/datasets/format.hpp"
#include "isobar/files/number_type.hpp"

namespace isobar::datasets {

/// What a record says about one of its features.
struct StoredNotes {
  Shape shape{};  ///< rank 0: not stated
  std::optional<files::NumberType> type{};
};
StoredNotes stored_notes(std::span<const std::uint8_t> record, const std::string& feature);

bool recognises_tfrecord(const Glance& glance);
Contents look_tfrecord(const Glance& glance);
std::unique_ptr<SampleWriter> create_tfrecord(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
