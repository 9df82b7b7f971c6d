// All strategies.
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

extern const Row<Strategy> solo;  // solo.cpp

Table<Row<Strategy>> strategies() {
  static constexpr const Row<Strategy>* all[] = {&solo};
  return all;
}

}  // namespace isobar::parallel
