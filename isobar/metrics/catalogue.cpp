// All metrics.
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {

extern const Row<Metric> accuracy;           // accuracy.cpp
extern const Row<Metric> average_precision;  // average_precision.cpp
extern const Row<Metric> confusion;          // confusion.cpp
extern const Row<Metric> iou;                // iou.cpp
extern const Row<Metric> mae;                // mae.cpp
extern const Row<Metric> perplexity;         // perplexity.cpp
extern const Row<Metric> r2;                 // r2.cpp
extern const Row<Metric> roc_auc;            // roc_auc.cpp
extern const Row<Metric> top_k;              // top_k.cpp

Table<Row<Metric>> metrics() {
  static constexpr const Row<Metric>* all[] = {&accuracy, &average_precision, &confusion, &iou, &mae, &perplexity,
                                               &r2,       &roc_auc,           &top_k};
  return all;
}

std::vector<std::string> default_metrics(const Spec& loss) {
  const std::string& name = loss.name();
  if (name == "softmax_cross_entropy" || name == "nll" || name == "focal") return {"accuracy"};
  if (name == "sigmoid_cross_entropy") return {"average_precision"};
  if (name == "detection_loss") return {};
  return {"mae", "r2"};
}

}  // namespace isobar::metrics
