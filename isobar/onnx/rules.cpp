// All import rules: one table from each file.
#include <algorithm>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {

std::span<const ImportRule> rules_axis();         // rules_axis.cpp
std::span<const ImportRule> rules_conv();         // rules_conv.cpp
std::span<const ImportRule> rules_elementwise();  // rules_elementwise.cpp
std::span<const ImportRule> rules_linear();       // rules_linear.cpp
std::span<const ImportRule> rules_norm();         // rules_norm.cpp
std::span<const ImportRule> rules_pool();         // rules_pool.cpp
std::span<const ImportRule> rules_recurrent();    // rules_recurrent.cpp
std::span<const ImportRule> rules_shape();        // rules_shape.cpp

const ImportRule* find_rule(std::string_view op) {
  for (const auto& table : {rules_axis(), rules_conv(), rules_elementwise(), rules_linear(), rules_norm(), rules_pool(),
                            rules_recurrent(), rules_shape()}) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const ImportRule& r) { return r.op == op; });
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

}  // namespace isobar::onnx
