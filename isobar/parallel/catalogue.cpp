// All strategies.
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

extern const Row<Strategy> lagged;  // lagged.cpp
extern const Row<Strategy> solo;    // solo.cpp
extern const Row<Strategy> sync;    // sync.cpp

Table<Row<Strategy>> strategies() {
  static constexpr const Row<Strategy>* all[] = {&lagged, &solo, &sync};
  return all;
}

}  // namespace isobar::parallel
