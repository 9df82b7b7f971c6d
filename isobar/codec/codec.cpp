#include "isobar/codec/codec.hpp"

#include <algorithm>
#include <vector>

namespace isobar::codec {

const std::shared_ptr<const Codec>& plain() {
  static const std::shared_ptr<const Codec> codec = make(codecs(), "float", "codec");
  return codec;
}

void round_as(const Codec& codec, std::span<float> numbers) {
  if (codec.is_plain()) return;
  // Codecs whose numbers are independent of each other need little memory.
  const std::size_t piece = codec.carriage() == Carriage::added ? 4096 : numbers.size();
  std::vector<std::byte> bytes(codec.bound(std::min(piece, numbers.size())));
  for (; !numbers.empty(); numbers = numbers.subspan(std::min(piece, numbers.size())))
    codec.encode(numbers.first(std::min(piece, numbers.size())), bytes);
}

}  // namespace isobar::codec
