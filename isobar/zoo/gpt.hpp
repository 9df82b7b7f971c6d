// GPT: one decoder, named sizes.
#pragma once

#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

/// What gives a decoder its size.
struct GptSize {
  std::int64_t layers, heads, width, context, vocabulary;
};

/// Makes a decoder of that size unless the arguments say otherwise.
std::unique_ptr<Network> make_gpt(Args& args, const GptSize& size);

}  // namespace isobar::zoo
