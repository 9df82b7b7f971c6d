#include "isobar/tune/remembered.hpp"

#include <charconv>
#include <cmath>
#include <omp.h>

#include <fmt/format.h>

#include "isobar/base/cache_file.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/machine/machine.hpp"

namespace isobar::tune {
namespace {

constexpr std::string_view first_line = "isobar tuning of a network 1";
constexpr std::string_view whole = "end", unfinished = "unfinished";
constexpr std::size_t longest_file = 8 << 20;

std::string_view take_line(std::string_view& text) {
  const std::size_t at = text.find('\n');
  const std::string_view line = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return line;
}

// Reads the number before the next space and removes both from `text`.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(end - text.data() + 1);
  return true;
}

std::optional<Finding> parse_finding(std::string_view line) {
  Finding f;
  int usual = 0;
  const auto possible = [](double seconds) { return seconds >= 0 && seconds < 1e9; };  // false for NaN
  if (!take_number(line, f.seconds) || !take_number(line, f.before) || !take_number(line, f.workspace) ||
      !take_number(line, usual) || !possible(f.seconds) || !possible(f.before) || usual < 0 || usual > 1)
    return std::nullopt;
  const auto chosen = ops::parse_choice(line);
  if (!chosen) return std::nullopt;
  f.chosen = *chosen;
  f.usual = usual == 1;
  return f;
}

}  // namespace

TuningCache tuning_cache(std::string_view processor, int threads, std::string_view network, std::int64_t batch,
                         Instructions level) {
  TuningCache cache;
  cache.key = one_line(
      fmt::format("{} as {}; {} threads; {}; batch {}", processor, name_of(level), threads, network, batch), 4000);
  cache.file = cache_file(fmt::format("tuning-{:016x}.txt", hash_text(cache.key)));
  return cache;
}

std::string record_text(const TuningRecord& record, std::string_view key) {
  std::string text = fmt::format("{}\n{}\n{} {} \n", first_line, key, record.workspace, record.inexact ? 1 : 0);
  for (const Finding& f : record.findings)
    if (ops::can_be_kept(f.chosen.node))
      text += fmt::format("{:.9g} {:.9g} {} {} {}\n", f.seconds, f.before, f.workspace, f.usual ? 1 : 0,
                          choice_line(f.chosen));
  return text + fmt::format("{}\n", record.complete ? whole : unfinished);
}

std::optional<TuningRecord> parse_record(std::string_view text, std::string_view key) {
  if (take_line(text) != first_line || take_line(text) != key) return std::nullopt;
  TuningRecord record;
  std::string_view settings = take_line(text);
  int inexact = 0;
  if (!take_number(settings, record.workspace) || !take_number(settings, inexact) || inexact < 0 || inexact > 1 ||
      !settings.empty())
    return std::nullopt;
  record.inexact = inexact == 1;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line == whole || line == unfinished) {
      record.complete = line == whole;
      return text.empty() ? std::optional(std::move(record)) : std::nullopt;
    }
    auto finding = parse_finding(line);
    if (!finding) return std::nullopt;
    record.findings.push_back(std::move(*finding));
  }
  return std::nullopt;
}

Remembered read_tuning(const TuningCache& cache) {
  std::error_code none;
  if (cache.file.empty() || !std::filesystem::exists(cache.file, none)) return {};
  auto record = parse_record(read_cache(cache.file, longest_file), cache.key);
  if (record) return {std::move(record), ""};
  return {std::nullopt, fmt::format("{} is damaged or from another program; 'isobar plan --tune' replaces it",
                                    one_line(cache.file.string(), 400))};
}

void write_tuning(const TuningCache& cache, const TuningRecord& record) {
  write_cache(cache.file, record_text(record, cache.key));
}

TuningCache cache_of(const Spec& model, std::int64_t batch) {
  return tuning_cache(machine::this_machine().processor, omp_get_max_threads(), model.str(), batch);
}

std::shared_ptr<const ops::Tuning> known_tuning(const Spec& model, std::int64_t batch) {
  const Remembered known = read_tuning(cache_of(model, batch));
  if (!known.problem.empty()) fmt::print(stderr, "isobar: tuning is not used: {}\n", known.problem);
  if (!known.record) return nullptr;
  ops::Tuning tuning = tuning_of(known.record->findings);
  return tuning.all().empty() ? nullptr : std::make_shared<const ops::Tuning>(std::move(tuning));
}

}  // namespace isobar::tune
