#include "isobar/base/row.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace isobar {
namespace {

// Lets a maker continue past a missing number. Text would be a path to open, a Spec would name a family unknown here.
std::optional<Value> stand_in(const Missing& missing) {
  if (missing.kind == "whole number") return Value(1);
  if (missing.kind == "number") return Value(1.0);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> describe_arguments(std::string_view name, const std::function<void(Args&)>& maker) {
  Spec spec(std::string(name), {});
  std::vector<Missing> needed;
  for (;;) {
    Args args(spec);
    try {
      maker(args);
    } catch (const Error&) {  // either a missing argument or of no interest to a list
      if (args.missing()) {
        needed.push_back(*args.missing());
        if (auto value = stand_in(needed.back())) {
          spec.set(needed.back().key, *value);
          continue;
        }
      }
    }
    Spec known = args.resolved();
    for (const Missing& missing : needed) known.set(missing.key, Spec("<" + missing.kind + ">", {}));
    std::vector<std::string> list;
    for (const auto& [key, value] : known.arguments()) list.push_back(fmt::format("{}={}", key, value.str()));
    return list;
  }
}

}  // namespace isobar
