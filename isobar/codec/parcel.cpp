#include "isobar/codec/parcel.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include "isobar/base/error.hpp"

namespace isobar::codec {
namespace {

using Length = std::uint32_t;

// Every tensor begins at a multiple of 4 bytes, which codecs may rely on.
std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }
std::size_t head_bytes(std::size_t tensors) { return tensors > 1 ? (tensors - 1) * sizeof(Length) : 0; }

template <class Take>
void each_tensor(std::span<const std::byte> from, std::span<const std::span<float>> tensors, Take take) {
  std::size_t at = head_bytes(tensors.size());
  expects(at <= from.size(), "a parcel of so many tensors");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::size_t length = from.size() - at;
    if (i + 1 < tensors.size()) {
      Length told{};
      std::memcpy(&told, from.data() + i * sizeof told, sizeof told);
      expects(padded(told) <= length, "tensors within the parcel");
      length = told;
    }
    take(from.subspan(at, length), tensors[i]);
    at += padded(length);
  }
}

}  // namespace

std::size_t parcel_bound(const Codec& codec, std::span<const std::size_t> tensors) {
  std::size_t bytes = head_bytes(tensors.size());
  for (const std::size_t count : tensors) bytes += padded(codec.bound(count));
  return bytes;
}

std::size_t pack(const Codec& codec, std::span<const std::span<float>> tensors, std::span<std::byte> to) {
  std::size_t at = head_bytes(tensors.size()), end = at;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t bound = codec.bound(tensors[i].size());
    expects(at + bound <= to.size(), "room for all tensors");
    const std::size_t length = codec.encode(tensors[i], to.subspan(at, bound));
    end = at + length;
    if (i + 1 == tensors.size()) break;
    expects(length <= std::numeric_limits<Length>::max(), "a tensor of less than 4 GiB");
    const auto told = static_cast<Length>(length);
    std::memcpy(to.data() + i * sizeof told, &told, sizeof told);
    std::memset(to.data() + end, 0, padded(length) - length);
    at += padded(length);
  }
  return end;
}

void unpack(const Codec& codec, std::span<const std::byte> from, std::span<const std::span<float>> tensors) {
  each_tensor(from, tensors,
              [&](std::span<const std::byte> bytes, std::span<float> tensor) { codec.decode(bytes, tensor); });
}

void unpack_and_add(const Codec& codec, std::span<const std::byte> from, std::span<const std::span<float>> tensors) {
  each_tensor(from, tensors,
              [&](std::span<const std::byte> bytes, std::span<float> tensor) { codec.add(bytes, tensor); });
}

}  // namespace isobar::codec
