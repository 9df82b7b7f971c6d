// All export rules: one table from each file.
#include <algorithm>

#include "isobar/onnx/exporter.hpp"

namespace isobar::onnx {

std::span<const ExportRule> export_blocks();       // export_blocks.cpp
std::span<const ExportRule> export_elementwise();  // export_elementwise.cpp
std::span<const ExportRule> export_layers();       // export_layers.cpp
std::span<const ExportRule> export_shape();        // export_shape.cpp

const ExportRule* find_export_rule(std::string_view kind) {
  for (const auto& table : {export_blocks(), export_elementwise(), export_layers(), export_shape()}) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const ExportRule& r) { return r.kind == kind; });
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

}  // namespace isobar::onnx
