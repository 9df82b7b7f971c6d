// fp16: 11 significant bits; numbers of 65520 or more become infinite, which a search for bad numbers then finds.
#include "isobar/base/float16.hpp"
#include "isobar/codec/number_codec.hpp"

namespace isobar::codec {

extern const Row<Codec> fp16;
const Row<Codec> fp16{"fp16", "rounded to 16 bits with more digits but less range than bf16; sums are made in float",
                      [](Args&) -> std::unique_ptr<Codec> { return std::make_unique<NumberCodec<Float16>>("fp16"); }};

}  // namespace isobar::codec
