// All networks.
#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

extern const Row<Network> cosmoflow;       // cosmoflow.cpp
extern const Row<Network> cosmoflow_sc18;  // cosmoflow_sc18.cpp

Table<Row<Network>> networks() {
  static constexpr const Row<Network>* all[] = {&cosmoflow, &cosmoflow_sc18};
  return all;
}

}  // namespace isobar::zoo
