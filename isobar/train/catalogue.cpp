// All metrics.
#include "isobar/train/metric.hpp"

namespace isobar::train {

extern const Row<Metric> mae;  // mae.cpp
extern const Row<Metric> r2;   // r2.cpp

Table<Row<Metric>> metrics() {
  static constexpr const Row<Metric>* all[] = {&mae, &r2};
  return all;
}

}  // namespace isobar::train
