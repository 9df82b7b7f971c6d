// The published results that forecasts are compared with, and what is known about their workloads.
#include "isobar/forecast/published.hpp"

namespace isobar::forecast {

std::span<const PublishedCase> published_cases() {
  // MLSL sums layer by layer during the backward pass. We assume, without a source, that Cray's plugin begins after it,
  // with one large bucket. With sums layer by layer, the forecasts of these rows are 7 points higher.
  static constexpr std::string_view layerwise = "sync(algorithm=halving_doubling)",
                                    afterwards = "sync(algorithm=halving_doubling, bucket_mb=1000)";
  // SC17: groups in which ranks train synchronously, and a parameter server for every layer. Assumed: eight groups of
  // 1,201 ranks with 14 servers, and nine of 1,066 with 6.
  static constexpr std::string_view climate_groups =
                                        "groups(of=1201, inner=sync(algorithm=halving_doubling), servers=layer)",
                                    hep_groups =
                                        "groups(of=1066, inner=sync(algorithm=halving_doubling), servers=layer)";
  static constexpr PublishedNetwork caffe[] = {{"caffenet", 256}, {"googlenet", 96}, {"cifar10_full", 100}};
  static constexpr PublishedCase all[] = {
      {.system = "Cori, 8,192 nodes",
       .platform = "cori",
       .model = "cosmoflow_sc18",
       .rank_gflops = 535,
       .ranks = 8192,
       .strategy = afterwards,
       .input = sim::Input::burst_buffer,
       .efficiency = 0.77,
       .source = "SC18 CosmoFlow: batch 1 and 535 GF/s on a node, 77 %; sums after the backward pass assumed"},
      {.system = "Cori, 1,024 nodes",
       .platform = "cori",
       .model = "cosmoflow_sc18",
       .rank_gflops = 535,
       .ranks = 1024,
       .strategy = afterwards,
       .input = sim::Input::burst_buffer,
       .efficiency = 0.78,
       .source = "benchmark deck: 78 %; network, batch, rate and sums of the SC18 run assumed"},
      {.system = "Theta, 1,024 nodes",
       .platform = "theta",
       .model = "cosmoflow_sc18",
       .ranks = 1024,
       .strategy = afterwards,
       .input = sim::Input::file_system,
       .efficiency = 0.84,
       .source = "benchmark deck: 84 %; network, batch and sums of the SC18 run assumed"},
      {.system = "Summit, 170 nodes, 1,020 GPUs",
       .platform = "summit",
       .model = "cosmoflow_sc18",
       .rank_gflops = 4000,
       .ranks = 1020,
       .strategy = "sync(algorithm=hierarchical)",
       .input = sim::Input::file_system,
       .efficiency = 0.72,
       .source = "benchmark deck: 72 %; network and batch of the SC18 run, 4 TF/s on a V100 and reading from the file "
                 "system assumed"},
      {.system = "Summit, 4,560 nodes, 27,360 GPUs",
       .platform = "summit",
       .model = "deeplabv3plus",
       .rank_gflops = 13130,
       .sample_gflops = 14410,
       .ranks = 27360,
       .strategy = "lagged(k=1, algorithm=hierarchical)",
       .input = sim::Input::node_local,
       .efficiency = 0.907,
       .source = "SC18 climate, fp32: 325.8 PF/s and 90.7 %, so 13.13 TF/s on a GPU alone; 14.41 TF a sample, batch 1, "
                 "lag 1"},
      {.system = "Stampede2, 128 nodes",
       .platform = "stampede2",
       .model = "alexnet",
       .batch = 256,
       .others = caffe,
       .rank_gflops = 2000,
       .ranks = 128,
       .strategy = layerwise,
       .efficiency = (0.92 + 0.88 + 0.85 + 0.85) / 4,
       .source =
           "Stampede2 deck: of its 15 bars, not attributed, the mean of the four highest; AlexNet with batch 256 at "
           "SC17's 2 TF/s assumed"},
      {.system = "Stampede2, 512 nodes",
       .platform = "stampede2",
       .model = "alexnet",
       .batch = 256,
       .others = caffe,
       .rank_gflops = 2000,
       .ranks = 512,
       .strategy = layerwise,
       .efficiency = 0.80,
       .source = "Stampede2 deck: about 80 %; otherwise as with 128"},
      {.system = "Stampede2, 1,024 nodes",
       .platform = "stampede2",
       .model = "alexnet",
       .batch = 256,
       .others = caffe,
       .rank_gflops = 2000,
       .ranks = 1024,
       .strategy = layerwise,
       .efficiency = (0.70 + 0.56 + 0.55) / 3,
       .source =
           "Stampede2 deck: of its 15 bars, not attributed, the mean of the three lowest; its library failed beyond "
           "768 nodes, which is not modelled; otherwise as with 128"},
      {.system = "Stampede2, 4 nodes",
       .platform = "stampede2",
       .model = "alexnet",
       .batch = 256,
       .others = caffe,
       .rank_gflops = 2000,
       .ranks = 4,
       .strategy = layerwise,
       .strong = true,
       .efficiency = 0.50,
       .source = "Stampede2 deck: about 50 %; the same networks, with these batches of all nodes together, assumed; "
                 "that kernels are "
                 "slower on "
                 "small batches is not modelled"},
      {.system = "Cori, 9,622 nodes, climate",
       .platform = "cori",
       .model = "climate_detector(variant=b)",
       .batch = 8,
       .rank_gflops = 2090,
       .ranks = 9622,
       .strategy = climate_groups,
       .efficiency = 13.27e3 / (9622 * 2.09),
       .source = "SC17: 13.27 PF/s sustained (15.07 at the peak, 75 %), of 9,622 times 2.09 TF/s; batch 8 a node; 8 "
                 "groups and a server for each of 14 layers assumed"},
      {.system = "Cori, 9,600 nodes, HEP",
       .platform = "cori",
       .model = "hep",
       .batch = 8,
       .rank_gflops = 1900,
       .ranks = 9600,
       .strategy = hep_groups,
       .efficiency = 11.41e3 / (9600 * 1.90),
       .source = "SC17: 11.41 PF/s sustained (11.73 at the peak, 64 %), of 9,600 times 1.90 TF/s; batch 8 a "
                 "node; the 1.90 TF/s, 9 groups and a server for each of 6 layers assumed"},
  };
  return all;
}

}  // namespace isobar::forecast
