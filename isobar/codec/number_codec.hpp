// NumberCodec: every number travels by itself, as a number of another type.
#pragma once

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/codec/codec.hpp"

namespace isobar::codec {

template <class Stored>
class NumberCodec final : public Codec {
 public:
  explicit NumberCodec(std::string name) : name_(std::move(name)) {}

  Carriage carriage() const override { return Carriage::added; }
  std::string describe() const override { return name_; }
  bool is_plain() const override { return std::is_same_v<Stored, float>; }
  std::size_t bound(std::size_t count) const override { return count * sizeof(Stored); }

  std::size_t encode(std::span<float> numbers, std::span<std::byte> to) const override {
    expects(to.size() >= bound(numbers.size()), "room for all numbers");
    run_dispatched([&] {
      float* const number = numbers.data();
      auto* const stored = reinterpret_cast<Stored*>(to.data());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        stored[i] = static_cast<Stored>(number[i]);
        number[i] = stored[i];
      }
    });
    return bound(numbers.size());
  }

  void decode(std::span<const std::byte> from, std::span<float> to) const override {
    for_each(from, to, [](float& number, float read) { number = read; });
  }
  void add(std::span<const std::byte> from, std::span<float> to) const override {
    for_each(from, to, [](float& number, float read) { number += read; });
  }

 private:
  template <class Take>
  void for_each(std::span<const std::byte> from, std::span<float> to, Take take) const {
    expects(from.size() == bound(to.size()), "as many numbers as were encoded");
    run_dispatched([&] {
      const auto* const stored = reinterpret_cast<const Stored*>(from.data());
      float* const number = to.data();
      for (std::size_t i = 0; i < to.size(); ++i) take(number[i], stored[i]);
    });
  }

  std::string name_;
};

}  // namespace isobar::codec
