// Records for people: a few lines per row, as `isobar bench` prints them.
#pragma once

#include <string>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

/// "12.3 [12.1, 12.9]" of a summary times `scale`.
std::string with_interval(const Summary& summary, double scale, int digits);

/// Seconds in a unit that suits them: "12.3 [12.1, 12.9] ms".
std::string time_text(const Summary& seconds);

/// Whether everything asked of a row was reached; true when nothing was asked.
bool reached(const Record& record);

/// What was reached, with what was asked: "2.71 [2.68, 2.75] times as fast as the best peer (asked: 2.7), ...".
std::string verdict_text(const Record& record);

/// All of it.
std::string record_text(const Record& record);

}  // namespace isobar::bench
