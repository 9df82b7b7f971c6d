// GPT: one decoder in several named sizes.
#pragma once

#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

/// The size of a decoder.
struct GptSize {
  std::int64_t layers, heads, width, context, vocabulary;
};

/// Makes a decoder of that size, unless the arguments change it.
std::unique_ptr<Network> make_gpt(Args& args, const GptSize& size);

}  // namespace isobar::zoo
