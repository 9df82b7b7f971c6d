// The verbs of the simulator, in the order --help lists them.
#include "isobar/sim_cli/verb.hpp"

namespace isobar::sim_cli {

extern const Verb advise_verb;     // advise.cpp
extern const Verb forecast_verb;   // forecast.cpp
extern const Verb platforms_verb;  // platforms.cpp
extern const Verb published_verb;  // published.cpp
extern const Verb what_if_verb;    // what_if.cpp

std::span<const Verb* const> verbs() {
  static constexpr const Verb* all[] = {&forecast_verb, &advise_verb, &what_if_verb, &published_verb, &platforms_verb};
  return all;
}

}  // namespace isobar::sim_cli
