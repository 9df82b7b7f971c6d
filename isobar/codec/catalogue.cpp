// All codecs.
#include "isobar/codec/codec.hpp"

namespace isobar::codec {

extern const Row<Codec> bf16;         // bf16.cpp
extern const Row<Codec> float_codec;  // float.cpp
extern const Row<Codec> fp16;         // fp16.cpp
extern const Row<Codec> topk;         // topk.cpp

Table<Row<Codec>> codecs() {
  static constexpr const Row<Codec>* all[] = {&bf16, &float_codec, &fp16, &topk};
  return all;
}

}  // namespace isobar::codec
