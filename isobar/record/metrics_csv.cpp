// metrics_csv: a run as a table for spreadsheets and data frames: metrics.csv, a row for every step (kind "step") and
// for every epoch (kind "epoch"). Columns: kind, step, epoch, loss (of the step, or the epoch's mean), learning_rate,
// samples, seconds (of the step, or of the epoch's training), wait_seconds, exchange_seconds, bytes_sent, test_seconds,
// and one for every figure of the test set and of a validation set, "test_loss", "validation_mae". Cells without a
// value are empty.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/disk/late_file.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view fixed_columns =
    "kind,step,epoch,loss,learning_rate,samples,seconds,wait_seconds,exchange_seconds,bytes_sent,test_seconds";

// Step and epoch of a row, its second and third field; nothing if these are not numbers.
std::optional<train::Reached> place_of(const std::string& row) {
  const std::size_t begin = row.find(',') + 1;
  const char* const last = row.data() + row.size();
  train::Reached place;
  const auto [end, problem] = std::from_chars(row.data() + begin, last, place.step);
  if (begin == 0 || problem != std::errc() || end == last || *end != ',') return {};
  const auto [after, trouble] = std::from_chars(end + 1, last, place.epoch);
  if (trouble != std::errc() || after == last || *after != ',') return {};
  return place;
}

// The fields of a line, without quotes.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') fields.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  return fields;
}

// By column.
std::map<std::string, double> figures_of(const train::EpochDone& epoch) {
  std::map<std::string, double> figures;
  for (const auto& [set, values] : {std::pair("validation_", &epoch.validation), {"test_", &epoch.test}})
    for (const auto& [name, value] : *values)
      if (!name.starts_with("confusion.")) figures[set + name] = value;
  return figures;
}

class MetricsCsv final : public train::Sink {
 public:
  void start(const train::Start& start) override {
    path_ = start.folder / "metrics.csv";
    reached_ = {};
    names_.clear();
    const std::int64_t kept = start.goes_on() ? kept_bytes(start) : 0;
    file_ = disk::LateFile(path_, kept);
    if (kept == 0) file_.append(header());
  }

  train::Reached reached(const train::Start&) const override { return reached_; }

  void step(const train::StepDone& step) override {
    file_.append(fmt::format("step,{},{},{},{},{},{},{},{},{},\n", step.step, step.epoch, step.loss, step.learning_rate,
                             step.samples, step.seconds, step.wait_seconds, step.exchange_seconds, step.bytes_sent));
  }

  void epoch(const train::EpochDone& epoch) override {
    const std::map<std::string, double> figures = figures_of(epoch);
    widen(figures);
    std::string row = fmt::format("epoch,{},{},{},,,{},,,,{}", epoch.step, epoch.epoch, epoch.train_loss,
                                  epoch.train_seconds, epoch.test_seconds);
    for (const std::string& name : names_) {
      const auto found = figures.find(name);
      row += found == figures.end() ? "," : fmt::format(",{}", found->second);
    }
    file_.append(row + "\n");
  }

  void end(const train::End&) override { file_.close(); }

 private:
  std::string header() const {
    std::string line(fixed_columns);
    for (const std::string& name : names_) line += "," + csv_field(name);
    return line + "\n";
  }

  // The length of the rows to keep; 0 if the file is not such a table.
  std::int64_t kept_bytes(const train::Start& start) {
    std::ifstream in(path_);
    std::string line;
    if (!std::getline(in, line) || in.eof() || !line.starts_with(fixed_columns)) return 0;
    const std::vector<std::string> columns = fields_of(line);
    for (const std::string& column : columns)
      if ((column.starts_with("test_") && column != "test_seconds") || column.starts_with("validation_"))
        names_.push_back(column);
    auto kept = std::ssize(line) + 1;
    while (std::getline(in, line) && !in.eof()) {
      const auto place = place_of(line);
      const bool is_epoch = line.starts_with("epoch,");
      if (!place || place->step > start.first_step || (is_epoch && place->epoch > start.first_epoch)) break;
      kept += std::ssize(line) + 1;
      if (is_epoch) reached_.epoch = place->epoch;
      else reached_.step = place->step;
    }
    return kept;
  }

  // Rewrites the header when figures come that have no column yet: once in a run. Existing rows stay shorter, which CSV
  // readers treat as empty fields.
  void widen(const std::map<std::string, double>& figures) {
    const std::size_t before = names_.size();
    for (const auto& [name, value] : figures)
      if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
    if (names_.size() > before) file_.replace_first_line(header());
  }

  fs::path path_;
  disk::LateFile file_;
  std::vector<std::string> names_;  // of figures, in the order of their columns
  train::Reached reached_{};        // by the rows found at the start
};

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return quoted + "\"";
}

std::unique_ptr<train::Sink> metrics_csv() { return std::make_unique<MetricsCsv>(); }

}  // namespace isobar::record
