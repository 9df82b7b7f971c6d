// Level 0 for convolutions: all methods to compute the same convolution, with their work, workspace and time.
#pragma once

#include <string>
#include <vector>

#include "isobar/bench/record.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::bench {

/// A record for every method that applies, in every direction; empty for operators other than convolutions.
std::vector<Record> measure_methods(const std::string& spec, const Shape& x, int rounds);

}  // namespace isobar::bench
