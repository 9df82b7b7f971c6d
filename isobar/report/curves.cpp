#include "isobar/report/curves.hpp"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "isobar/disk/late_file.hpp"

namespace isobar::report {
namespace {

using Json = nlohmann::json;

Curve& curve_of(Panel& panel, const std::string& name) {
  const auto found = std::ranges::find(panel.curves, name, &Curve::name);
  return found == panel.curves.end() ? panel.curves.emplace_back(Curve{name}) : *found;
}

void add(Panel& panel, const std::string& name, std::int64_t epoch, double value) {
  Curve& curve = curve_of(panel, name);
  curve.epochs.push_back(static_cast<double>(epoch));
  curve.values.push_back(value);
}

// The epochs that an earlier session of the run has written.
std::vector<train::EpochDone> epochs_in(const std::filesystem::path& file, const train::Start& start) {
  std::vector<train::EpochDone> epochs;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || object.value("kind", "") != "epoch" ||
        object.value("step", start.first_step + 1) > start.first_step)
      continue;
    train::EpochDone done;
    done.epoch = object.value("epoch", std::int64_t{0});
    done.train_loss = object.value("train_loss", 0.0);
    for (const auto& [set, values] : {std::pair("test", &done.test), {"validation", &done.validation}}) {
      const Json results = object.value(set, Json::object());
      for (const auto& [name, value] : results.items())
        if (value.is_number()) (*values)[name] = value.get<double>();
    }
    epochs.push_back(std::move(done));
  }
  return epochs;
}

class Curves final : public train::Sink {
 public:
  void start(const train::Start& start) override {
    file_ = disk::LateFile::whole(start.folder / "curves.svg");
    if (start.goes_on()) epochs_ = epochs_in(start.folder / "metrics.jsonl", start);
  }
  train::Reached reached(const train::Start& start) const override {
    return {start.first_step, epochs_.empty() ? 0 : epochs_.back().epoch};
  }
  void epoch(const train::EpochDone& epoch) override {
    epochs_.push_back(epoch);
    file_.replace(curves_svg(panels_of(epochs_)));
  }
  void end(const train::End&) override { file_.close(); }

 private:
  disk::LateFile file_;
  std::vector<train::EpochDone> epochs_;
};

}  // namespace

std::vector<Panel> panels_of(std::span<const train::EpochDone> epochs) {
  std::vector<Panel> panels{{"loss"}};
  for (const train::EpochDone& done : epochs) {
    add(panels[0], "training", done.epoch, done.train_loss);
    for (const auto& [set, values] : {std::pair("test", &done.test), {"validation", &done.validation}})
      for (const auto& [name, value] : *values) {
        const std::string title = name.substr(0, name.find('.'));
        if (title == "confusion") continue;
        auto panel = std::ranges::find(panels, title, &Panel::title);
        if (panel == panels.end()) panel = panels.insert(panels.end(), {title});
        const std::string part = title == name ? "" : name.substr(title.size() + 1);
        const bool tests = values == &done.test;
        add(*panel, part.empty() ? set : tests ? part : part + " (validation)", done.epoch, value);
      }
  }
  return panels;
}

std::unique_ptr<train::Sink> curves() { return std::make_unique<Curves>(); }

}  // namespace isobar::report
