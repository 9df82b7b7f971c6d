// All networks.
#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

extern const Row<Network> alexnet;           // alexnet.cpp
extern const Row<Network> caffenet;          // alexnet.cpp
extern const Row<Network> cifar10_full;      // cifar10.cpp
extern const Row<Network> cifar10_quick;     // cifar10.cpp
extern const Row<Network> climate_detector;  // climate_detector.cpp
extern const Row<Network> cosmoflow;         // cosmoflow.cpp
extern const Row<Network> cosmoflow_sc18;    // cosmoflow_sc18.cpp
extern const Row<Network> deepcam;           // deepcam.cpp
extern const Row<Network> deeplabv3plus;     // deeplabv3plus.cpp
extern const Row<Network> googlenet;         // googlenet.cpp
extern const Row<Network> gpt;               // gpt.cpp
extern const Row<Network> gpt2_small;        // gpt.cpp
extern const Row<Network> hep;               // hep.cpp
extern const Row<Network> lenet;             // lenet.cpp
extern const Row<Network> lstm_classifier;   // lstm_classifier.cpp
extern const Row<Network> resnet101;         // resnet101.cpp
extern const Row<Network> tiramisu;          // tiramisu.cpp

Table<Row<Network>> networks() {
  static constexpr const Row<Network>* all[] = {
      &alexnet,         &caffenet,      &cifar10_full, &cifar10_quick, &climate_detector, &cosmoflow, &cosmoflow_sc18,
      &deepcam,         &deeplabv3plus, &googlenet,    &gpt,           &gpt2_small,       &hep,       &lenet,
      &lstm_classifier, &resnet101,     &tiramisu};
  return all;
}

}  // namespace isobar::zoo
