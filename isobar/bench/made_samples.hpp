// Samples for reading benchmarks: numbers that compress like scientific data, written in any format.
#pragma once

#include <filesystem>
#include <functional>

#include "isobar/datasets/format.hpp"

namespace isobar::bench {

/// A number of a sample from its position.
using MadeValue = float (*)(std::int64_t sample, std::size_t position);

/// Weather-like: smooth, with a limited precision, so that gzip can compress them.
float weather(std::int64_t sample, std::size_t position);

/// Particle counts as in a universe: mostly zero, a few large.
float particles(std::int64_t sample, std::size_t position);

/// Writes the samples [first, first + count) with these fields, all made by `value`.
void write_samples(const Spec& format, const std::filesystem::path& to, const std::vector<datasets::Field>& fields,
                   std::int64_t first, std::int64_t count, MadeValue value);

}  // namespace isobar::bench
