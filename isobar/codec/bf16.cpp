// bf16: the range of float with 8 significant bits. Rounds to nearest, ties to even, on every hop of a partial sum.
#include "isobar/base/float16.hpp"
#include "isobar/codec/number_codec.hpp"

namespace isobar::codec {

extern const Row<Codec> bf16;
const Row<Codec> bf16{"bf16", "rounded to 16 bits with the range of float; sums are made in float",
                      [](Args&) -> std::unique_ptr<Codec> { return std::make_unique<NumberCodec<BFloat16>>("bf16"); }};

}  // namespace isobar::codec
