// Golden files: losses and gradients that PyTorch computed in double precision (tests/onnx/oracle/make_golden.py), and
// the comparison of an OracleCase with them. It needs neither PyTorch nor Python.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include "tests/onnx/oracle_files.hpp"

namespace isobar::onnx {

using nlohmann::ordered_json;

inline std::filesystem::path golden_folder() { return std::filesystem::path(ISOBAR_ONNX_TESTS) / "golden"; }

/// The golden file of a network or operator. A missing file is an Error that says how to make it.
inline ordered_json read_golden(const std::string& family, const std::string& name,
                                const std::filesystem::path& folder = golden_folder()) {
  const std::filesystem::path file = folder / family / (name + ".json");
  std::ifstream in(file);
  if (!in) fail("{} '{}' has no golden file {}; make it: make golden ONLY={}", family, name, file.string(), name);
  return ordered_json::parse(in);
}

/// The case with that title in a golden file.
inline const ordered_json& golden_case(const ordered_json& file, const std::string& spec, const std::string& name) {
  for (const ordered_json& one : file.at("cases"))
    if (one.at("spec") == spec) return one;
  fail("the golden file of {} does not know '{}'; make it again: make golden ONLY={}", name, spec, name);
}

/// A gradient with a smaller share of the norm of all gradients is only rounding, such as that of a bias before a batch
/// normalisation; its error is relative to that norm.
inline constexpr double only_rounding = 1e-9;

inline double norm_of_all(const ordered_json& gradients) {
  double whole = 0;
  for (const auto& [name, numbers] : gradients.items()) whole = std::hypot(whole, numbers[0].get<double>());
  return whole;
}

/// Relative to the norm of a tensor. In the cases that make_golden.py keeps, rounding five times as coarse as that of
/// single precision changes a gradient by less than half of this.
inline constexpr double golden_tolerance = 1e-4;

/// Changes a gradient before it is compared, to show that an error is detected.
using Damage = std::function<void(std::vector<float>&)>;

inline std::string apart(const Summary& ours, const Summary& theirs, double scale) {
  for (std::size_t k = 0; k < ours.size(); ++k)
    if (!(std::abs(ours[k] - theirs[k]) <= golden_tolerance * scale))
      return fmt::format("{} is {:.8g}, PyTorch has {:.8g}; off by {:.1e}, {:.0e} is allowed",
                         k == 0 ? "norm" : fmt::format("projection {}", k - 1), ours[k], theirs[k],
                         std::abs(ours[k] - theirs[k]) / scale, golden_tolerance);
  return "";
}

/// All differences of loss, outputs and gradients at the current weights from one start of a golden file. The inputs of
/// the case are compared first: if they differ, nothing else can agree.
inline std::vector<std::string> disagreements(OracleCase& ours, const ordered_json& golden, const Damage& damage = {}) {
  std::vector<std::string> list;
  const auto compare = [&](const std::string& what, const Summary& mine, const Summary& theirs, double scale) {
    const std::string difference = apart(mine, theirs, scale);
    if (!difference.empty()) list.push_back(what + ": " + difference);
  };
  const ordered_json start = given(ours);
  for (const auto& [name, numbers] : start.items()) {
    const Summary theirs = golden.at("given").at(name);
    compare("given " + name, numbers, theirs, theirs[0]);
  }
  if (!list.empty()) return list;
  const double loss = ours.backward(), expected = golden.at("loss");
  if (!(std::abs(loss - expected) <= golden_tolerance * std::abs(expected)))
    list.push_back(fmt::format("loss is {:.8g}, PyTorch has {:.8g}", loss, expected));
  if (golden.contains("outputs"))
    for (const auto& [name, theirs] : golden["outputs"].items()) {
      const Summary wanted = theirs;
      compare("output " + name, summary(ours.output(name)), wanted, wanted[0]);
    }
  const ordered_json& gradients = golden.at("gradients");
  const double whole = norm_of_all(gradients);
  std::size_t compared = 0;
  for (int p = 0; p < ours.store().count(); ++p) {
    const graph::PlanParameter& parameter = ours.store().parameter(p);
    if (!parameter.declared.trained) continue;
    if (!gradients.contains(parameter.name)) {
      list.push_back(parameter.name + ": PyTorch has no such gradient");
      continue;
    }
    std::vector<float> gradient = ours.plain(p, ours.store().gradient(p));
    if (damage) damage(gradient);
    const Summary theirs = gradients.at(parameter.name);
    compare("gradient of " + parameter.name, summary(gradient), theirs,
            theirs[0] >= only_rounding * whole ? theirs[0] : whole);
    ++compared;
  }
  if (compared != gradients.size())
    list.push_back(fmt::format("{} gradients, PyTorch has {}", compared, gradients.size()));
  return list;
}

}  // namespace isobar::onnx
