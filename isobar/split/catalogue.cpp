// All splits.
#include "isobar/split/split.hpp"

namespace isobar::split {

extern const Row<Split> none;     // none.cpp
extern const Row<Split> spatial;  // spatial.cpp

Table<Row<Split>> splits() {
  static constexpr const Row<Split>* all[] = {&none, &spatial};
  return all;
}

}  // namespace isobar::split
