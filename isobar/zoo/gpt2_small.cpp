// gpt2_small: the smallest published GPT-2: 12 layers, 12 heads, width 768, context 1024 and 50,257 tokens.
// 124,439,808 parameters; the token table is used at both ends but counted once.
#include "isobar/zoo/gpt.hpp"

namespace isobar::zoo {

extern const Row<Network> gpt2_small;
const Row<Network> gpt2_small{"gpt2_small", "GPT-2 small: a language model over 1024 tokens", [](Args& args) {
                                return make_gpt(args, {12, 12, 768, 1024, 50257});
                              }};

}  // namespace isobar::zoo
