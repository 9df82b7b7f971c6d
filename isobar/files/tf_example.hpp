// tf.train.Example and tf.train.SequenceExample: named features, each a list of bytes, floats or integers, as views
// into a record. A feature list of a SequenceExample is read as one list: the values of its steps one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/files/wire.hpp"

namespace isobar::files {

/// One feature of a record; valid as long as the record's bytes are.
struct Feature {
  enum class Kind { empty, bytes, floats, integers };
  std::string_view name;
  Kind kind = Kind::empty;
  std::int64_t count = 0;  ///< number of values
  std::int64_t steps = 0;  ///< of a feature list; 0 for a plain feature
  std::span<const std::uint8_t> message{};

  /// The values of a list of floats or integers; out.size() is `count`.
  void numbers(std::span<float> out) const;
  /// One value of a list of bytes.
  std::span<const std::uint8_t> bytes(std::int64_t index = 0) const;
};

/// "bytes", "float", "int64" or "empty".
std::string_view name_of(Feature::Kind kind);

/// All features of a record in the order in which they are stored; a record that is not an Example is an Error.
std::vector<Feature> features_of(std::span<const std::uint8_t> record);

/// The feature with this name; the last one if there are several, as in protocol buffers.
std::optional<Feature> find_feature(std::span<const std::uint8_t> record, std::string_view name);

/// Builds a tf.train.Example.
class ExampleWriter {
 public:
  void bytes(std::string_view name, std::span<const std::uint8_t> value);
  void floats(std::string_view name, std::span<const float> values);
  void integers(std::string_view name, std::span<const std::int64_t> values);

  /// Returns the record; the writer starts over.
  std::vector<std::uint8_t> finish();

 private:
  void add(std::string_view name, std::uint32_t kind, const WireWriter& list);

  WireWriter features_;
};

}  // namespace isobar::files
