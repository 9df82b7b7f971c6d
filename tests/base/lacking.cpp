// A program that claims to be built for instructions only Xeon Phi had. Neither its initialiser nor its main may run.
#include <cstdio>

#include "isobar/base/processor_needs.hpp"

namespace isobar {
extern const unsigned processor_needs = needs_avx2 | needs_avx512er;
}

namespace {
const int began = std::fputs("an initialiser began\n", stderr);  // which is not buffered
}

int main() { return std::fputs("main began\n", stderr) + began; }
