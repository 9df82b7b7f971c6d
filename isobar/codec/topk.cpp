// topk: of every tensor only the numbers of largest magnitude travel, each with its place; of equal ones the first.
// Zeros do not travel, so sparse gradients take fewer bytes still. What does not travel must be added to the next
// gradient by whoever encodes, or training goes astray. NaN counts as larger than all others, so that it reaches every
// rank. Short tensors travel whole, as do those of which so many numbers are kept that pairs would take more bytes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "isobar/codec/codec.hpp"

namespace isobar::codec {
namespace {

std::uint32_t magnitude(float number) { return std::bit_cast<std::uint32_t>(number) & 0x7fff'ffff; }

/// The magnitude of the last number that is kept, and how many of that magnitude are.
struct Limit {
  std::uint32_t magnitude = 0;
  std::size_t ties = 0;
};

// Magnitudes of floats are ordered as whole numbers: their bits are found from the highest, some at a time, by
// counting.
Limit limit_of(std::span<const float> numbers, std::size_t kept) {
  Limit limit{0, kept};
  std::uint32_t known = 0;  // which bits are
  for (const int shift : {20, 10, 0}) {
    std::size_t counts[2048] = {};
    for (const float number : numbers)
      if (const std::uint32_t bits = magnitude(number); ((bits ^ limit.magnitude) & known) == 0)
        ++counts[bits >> shift & (shift == 20 ? 0x7ff : 0x3ff)];
    std::size_t digit = std::size(counts) - 1;
    for (; counts[digit] < limit.ties; --digit) limit.ties -= counts[digit];
    limit.magnitude |= static_cast<std::uint32_t>(digit) << shift;
    known = 0x7fff'ffffu << shift & 0x7fff'ffff;
  }
  return limit;
}

struct Pair {
  std::uint32_t place;
  float value;
};

class TopK final : public Codec {
 public:
  TopK(double share, std::size_t least) : share_(share), least_(least) {}

  Carriage carriage() const override { return Carriage::gathered; }
  std::string describe() const override { return fmt::format("topk(share={:g})", share_); }
  std::size_t bound(std::size_t count) const override {
    return is_whole(count) ? count * sizeof(float) : kept(count) * sizeof(Pair);
  }

  std::size_t encode(std::span<float> numbers, std::span<std::byte> to) const override {
    expects(to.size() >= bound(numbers.size()), "room for what is kept");
    if (is_whole(numbers.size())) {
      if (!numbers.empty()) std::memcpy(to.data(), numbers.data(), numbers.size_bytes());
      return numbers.size_bytes();
    }
    Limit limit = limit_of(numbers, kept(numbers.size()));
    if (limit.magnitude == 0) limit.ties = 0;
    auto* const first = reinterpret_cast<Pair*>(to.data());
    Pair* next = first;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint32_t size = magnitude(numbers[i]);
      if (size > limit.magnitude || (size == limit.magnitude && limit.ties > 0 && limit.ties--)) {
        *next++ = {static_cast<std::uint32_t>(i), numbers[i]};
      } else {
        numbers[i] = 0;
      }
    }
    return static_cast<std::size_t>(next - first) * sizeof(Pair);
  }

  void decode(std::span<const std::byte> from, std::span<float> to) const override {
    std::ranges::fill(to, 0.0f);
    add(from, to);
  }

  void add(std::span<const std::byte> from, std::span<float> to) const override {
    if (is_whole(to.size())) {
      expects(from.size() == to.size_bytes(), "as many numbers as were encoded");
      const auto* const value = reinterpret_cast<const float*>(from.data());
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += value[i];
      return;
    }
    expects(from.size() <= bound(to.size()) && from.size() % sizeof(Pair) == 0, "numbers with their places");
    for (const Pair& pair : std::span(reinterpret_cast<const Pair*>(from.data()), from.size() / sizeof(Pair))) {
      expects(pair.place < to.size(), "a place in the tensor");
      to[pair.place] += pair.value;
    }
  }

 private:
  std::size_t kept(std::size_t count) const {
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(share_ * static_cast<double>(count))), 1, count);
  }
  bool is_whole(std::size_t count) const { return count < least_ || 2 * kept(count) >= count; }

  double share_;
  std::size_t least_;
};

}  // namespace

extern const Row<Codec> topk;
const Row<Codec> topk{"topk", "only the largest numbers of every tensor; the rest waits for the next steps",
                      [](Args& args) -> std::unique_ptr<Codec> {
                        const double share = args.real("share", 0.01);
                        const std::int64_t least = args.integer("least", 1024);
                        args.require(share > 0 && share <= 1, "share must be above 0 and at most 1");
                        args.require(least >= 1, "least must be at least 1: tensors of fewer numbers travel whole");
                        return std::make_unique<TopK>(share, static_cast<std::size_t>(least));
                      }};

}  // namespace isobar::codec
