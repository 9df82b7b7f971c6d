// Codec: how numbers travel between ranks: as they are, or in fewer bytes. Encoding replaces the numbers by what their
// receivers will read, so that a sender knows at once what was lost, and all ranks end with the same numbers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "isobar/base/row.hpp"

namespace isobar::codec {

/// How a sum over ranks can carry what a codec writes.
enum class Carriage {
  added,     ///< all numbers take the same bytes: partial sums are decoded, added and encoded again on their way
  gathered,  ///< what a rank writes reaches all others, which decode and add it in the order of ranks
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual Carriage carriage() const = 0;
  /// As a recipe names it, for reports and messages: "bf16".
  virtual std::string describe() const = 0;
  /// Whether the bytes are those of the numbers in memory: they can travel without being encoded.
  virtual bool is_plain() const { return false; }
  /// The bytes that so many numbers take: at most, or exactly where they are added on their way.
  virtual std::size_t bound(std::size_t count) const = 0;
  /// Writes the numbers and replaces them by what will be read. Returns the bytes written: where they are gathered
  /// these may be fewer than bound(), as the numbers have it, and only they travel.
  virtual std::size_t encode(std::span<float> numbers, std::span<std::byte> to) const = 0;
  /// Reads as many numbers as were encoded, from the bytes that encode() wrote.
  virtual void decode(std::span<const std::byte> from, std::span<float> to) const = 0;
  /// Reads them and adds them.
  virtual void add(std::span<const std::byte> from, std::span<float> to) const = 0;
};

Table<Row<Codec>> codecs();

/// The codec 'float', which changes nothing.
const std::shared_ptr<const Codec>& plain();

/// Replaces numbers by what would be read if they had travelled.
void round_as(const Codec& codec, std::span<float> numbers);

}  // namespace isobar::codec
