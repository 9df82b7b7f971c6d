// Records as text: a few lines per row, as `isobar bench` prints them.
#pragma once

#include <string>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

/// "12.3 [12.1, 12.9]" of a summary times `scale`.
std::string with_interval(const Summary& summary, double scale, int digits);

/// Seconds in a suitable unit: "12.3 [12.1, 12.9] ms".
std::string time_text(const Summary& seconds);

/// Whether a row reached all its aims; true when it has none.
bool reached(const Record& record);

/// What was reached, with the aims: "2.71 [2.68, 2.75] times as fast as the best peer (aim: at least 2.7, reached)".
std::string verdict_text(const Record& record);

/// The whole record.
std::string record_text(const Record& record);

}  // namespace isobar::bench
