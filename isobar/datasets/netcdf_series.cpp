#include "isobar/datasets/netcdf_series.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::datasets {
namespace {

using hdf5::Calendar;
using hdf5::NetcdfFile;
using hdf5::NetcdfVariable;

// Calendars that describe the same moments; those of models are incompatible with all others.
bool agree(Calendar a, Calendar b) {
  const auto real = [](Calendar c) {
    return c == Calendar::standard || c == Calendar::proleptic_gregorian || c == Calendar::julian;
  };
  return a == b || (real(a) && real(b));
}

}  // namespace

/// Everything that the files say about one variable.
struct NetcdfSeries::Found {
  std::vector<Entry> entries;         // steps with a time
  std::vector<std::size_t> timeless;  // files that have it without a time
};

/// What one file says about the wanted variables.
struct NetcdfSeries::FileTimes {
  static constexpr std::int64_t absent = -2, timeless = -1;
  struct Variable {
    std::int64_t times = absent, steps = 0;  // which of `times` are along its steps
  };
  std::vector<Variable> variables{};
  std::vector<NetcdfTimes> times{};  // variables share them; the last is that of the whole file, when nothing has steps

  FileTimes(const NetcdfFile& file, const NetcdfChoice& choice) {
    std::map<std::size_t, std::int64_t> known;  // by dimension
    for (const std::string& name : choice.variables) {
      Variable& told = variables.emplace_back();
      const NetcdfVariable* variable = file.find(name);
      if (!variable) continue;
      told.times = timeless;
      const NetcdfAxes axes = axes_of(file, *variable, choice.time);
      if (!axes.time) continue;
      const std::size_t dimension = variable->dimensions[*axes.time];
      told.steps = file.dimensions()[dimension].size;
      constexpr std::int64_t most_steps = std::int64_t{1} << 24;
      if (told.steps > most_steps)
        fail("{}: dimension '{}' has {} steps; at most {} are read", file.path().string(),
             file.dimensions()[dimension].name, told.steps, most_steps);
      const auto [place, fresh] = known.emplace(dimension, std::ssize(times));
      if (fresh) times.push_back(times_along(file, dimension));
      told.times = place->second;
    }
    times.push_back(times.empty() ? time_of_file(file) : NetcdfTimes{});
  }

  explicit FileTimes(const FileFacts& facts) {
    auto next = facts.numbers.begin();
    variables.resize(*next++);
    for (Variable& variable : variables) variable = {next[0], next[1]}, next += 2;
    for (std::size_t end, at = 0; next != facts.numbers.end(); at = end + 1) {
      NetcdfTimes& told = times.emplace_back();
      told.calendar = static_cast<Calendar>(*next++);
      const auto first = next + 1;
      next = first + *next;
      told.instants.assign(first, next);
      end = facts.text.find('\0', at);
      told.obstacle = facts.text.substr(at, end - at);
    }
  }

  FileFacts facts() const {
    FileFacts made{{std::ssize(variables)}};
    for (const Variable& variable : variables)
      made.numbers.insert(made.numbers.end(), {variable.times, variable.steps});
    for (const NetcdfTimes& told : times) {
      made.numbers.insert(made.numbers.end(), {static_cast<std::int64_t>(told.calendar), std::ssize(told.instants)});
      made.numbers.insert(made.numbers.end(), told.instants.begin(), told.instants.end());
      made.text += told.obstacle + '\0';
    }
    return made;
  }
};

NetcdfSeries::NetcdfSeries(std::vector<std::filesystem::path> files, NetcdfChoice choice, NetcdfFiles& opened,
                           Survey& survey)
    : files_(std::move(files)), choice_(std::move(choice)) {
  std::vector<Found> found(choice_.variables.size());
  const std::string question = fmt::format("netcdf\n{}\n{}", choice_.time, fmt::join(choice_.variables, "\n"));
  const auto is_first = [&](std::size_t f) {
    return std::ranges::any_of(found, [&](const Found& variable) {
      return (!variable.entries.empty() && variable.entries[0].place.file == f) ||
             (!variable.timeless.empty() && variable.timeless[0] == f);
    });
  };
  for (std::size_t f = 0; f < files_.size(); ++f) {
    if (const FileFacts* const known = survey.find(question, files_[f])) {
      add_file(f, FileTimes(*known), found);
      continue;
    }
    const FileTimes file(opened.try_emplace(f, files_[f]).first->second, choice_);
    survey.note(question, files_[f], file.facts());
    add_file(f, file, found);
    if (!is_first(f)) opened.erase(f);
  }
  bool timed = false;
  for (std::size_t v = 0; v < found.size(); ++v) {
    if (found[v].entries.empty() && found[v].timeless.empty()) {
      // The first file knows its variables, and answers with the nearest.
      opened.try_emplace(0, files_[0]).first->second.variable(choice_.variables[v]);
      fail("{}: '{}' has no steps", files_[0].string(), choice_.variables[v]);
    }
    first_.push_back(found[v].entries.empty() ? found[v].timeless[0] : found[v].entries[0].place.file);
    timed = timed || !found[v].entries.empty();
  }
  if (!timed) {
    // Nothing has a time: every file is a sample.
    undated_ = "the files have no times";
    for (Found& variable : found)
      for (const std::size_t file : std::exchange(variable.timeless, {}))
        variable.entries.push_back({static_cast<hdf5::Instant>(variable.entries.size()), {file, -1}});
  }
  for (Found& variable : found) choose(variable.entries);
  join(found);
}

void NetcdfSeries::add_file(std::size_t number, const FileTimes& file, std::vector<Found>& found) {
  const auto dates = [&](const NetcdfTimes& times, std::size_t count) {
    if (times.instants.size() != count) {
      if (undated_.empty())
        undated_ = fmt::format("{}: {}", files_[number].string(),
                               times.obstacle.empty() ? "there are fewer times than steps" : times.obstacle);
      return;
    }
    if (!calendar_) calendar_ = times.calendar;
    if (!agree(*calendar_, times.calendar))
      fail("{}: has the calendar {}, the files before it {}: their times cannot be put in one order",
           files_[number].string(), name_of(times.calendar), name_of(*calendar_));
  };
  const auto key = [](const NetcdfTimes& times, std::size_t step, const std::vector<Entry>& before) {
    return step < times.instants.size() ? times.instants[step] : static_cast<hdf5::Instant>(before.size());
  };
  for (std::size_t v = 0; v < found.size(); ++v) {
    const FileTimes::Variable& variable = file.variables[v];
    if (variable.times == FileTimes::timeless) found[v].timeless.push_back(number);
    if (variable.times < 0) continue;
    const NetcdfTimes& times = file.times[variable.times];
    const std::size_t steps = variable.steps;
    dates(times, steps);
    for (std::size_t step = 0; step < steps; ++step)
      found[v].entries.push_back({key(times, step, found[v].entries), {number, static_cast<std::int64_t>(step)}});
  }
  // A file without steps may still be of one time.
  const NetcdfTimes& times = file.times.back();
  if (times.instants.size() != 1) return;
  dates(times, 1);
  for (Found& variable : found)
    if (!variable.timeless.empty() && variable.timeless.back() == number) {
      variable.timeless.pop_back();
      variable.entries.push_back({times.instants[0], {number, -1}});
    }
}

void NetcdfSeries::choose(std::vector<Entry>& entries) const {
  const bool dated = undated_.empty();
  if (!dated) {
    if (!choice_.from.empty() || !choice_.to.empty())
      fail("from='{}', to='{}' cannot choose samples by date: {}", choice_.from, choice_.to, undated_);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].key = static_cast<hdf5::Instant>(i);
    return;
  }
  std::ranges::stable_sort(entries, {}, &Entry::key);
  if (!choice_.from.empty()) {
    const hdf5::Instant from = hdf5::parse_instant(calendar(), choice_.from);
    std::erase_if(entries, [&](const Entry& entry) { return entry.key < from; });
  }
  if (!choice_.to.empty()) {
    const hdf5::Instant to = hdf5::parse_instant(calendar(), choice_.to);
    std::erase_if(entries, [&](const Entry& entry) { return entry.key >= to; });
  }
}

void NetcdfSeries::join(const std::vector<Found>& found) {
  const auto leader = std::ranges::find_if(found, [](const Found& v) { return !v.entries.empty(); });
  if (leader == found.end()) {
    fail("{}: there are no samples{}", files_[0].string(),
         choice_.from.empty() && choice_.to.empty()
             ? ""
             : fmt::format(" from '{}' to before '{}'", choice_.from, choice_.to));
  }
  const auto name = [&](const Found& variable) { return choice_.variables[&variable - &found[0]]; };
  for (const Found& variable : found) {
    if (variable.entries.empty() && !variable.timeless.empty()) continue;
    for (std::size_t i = 0; i < std::max(leader->entries.size(), variable.entries.size()); ++i) {
      const bool here = i < variable.entries.size(), there = i < leader->entries.size();
      // Several samples of one time (members of an ensemble) are joined in the order of their files.
      if (here && there && variable.entries[i].key == leader->entries[i].key) continue;
      const bool lacks = !here || (there && variable.entries[i].key > leader->entries[i].key);
      const hdf5::Instant key = lacks ? leader->entries[i].key : variable.entries[i].key;
      fail("{}: variable '{}' has a step {} that '{}' does not have", files_[0].string(),
           lacks ? name(*leader) : name(variable),
           undated_.empty() ? "at " + date_of(calendar(), key).str() : fmt::format("number {}", key),
           lacks ? name(variable) : name(*leader));
    }
  }
  for (std::size_t i = 0; i < leader->entries.size(); i += choice_.every) {
    const std::size_t file = leader->entries[i].place.file;
    for (const Found& variable : found) {
      if (!variable.entries.empty()) places_.push_back(variable.entries[i].place);
      else places_.push_back({std::ranges::binary_search(variable.timeless, file) ? file : variable.timeless[0], -1});
    }
    keys_.push_back(leader->entries[i].key);
  }
  size_ = std::ssize(keys_);
}

void NetcdfSeries::limit(std::int64_t samples) { size_ = std::min(size_, samples); }

const NetcdfStep& NetcdfSeries::at(std::int64_t sample, std::size_t variable) const {
  return places_[sample * choice_.variables.size() + variable];
}

std::string NetcdfSeries::date(std::int64_t sample) const {
  return dated() ? date_of(calendar(), instant(sample)).str() : "";
}

}  // namespace isobar::datasets
