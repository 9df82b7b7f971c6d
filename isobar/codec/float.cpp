// float: numbers travel as they are.
#include "isobar/codec/number_codec.hpp"

namespace isobar::codec {

extern const Row<Codec> float_codec;
const Row<Codec> float_codec{"float", "numbers travel as they are, in 32 bits", [](Args&) -> std::unique_ptr<Codec> {
                               return std::make_unique<NumberCodec<float>>("float");
                             }};

}  // namespace isobar::codec
