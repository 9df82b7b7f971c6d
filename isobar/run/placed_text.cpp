// PlacedRanks for people, as tables, and for programs, as JSON.
#include <algorithm>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"
#include "isobar/machine/cores.hpp"
#include "isobar/run/placed_ranks.hpp"

namespace isobar::run {
namespace {

using parallel::Placement;

const char* word(parallel::Roles::Role role) { return role == parallel::Roles::Role::trains ? "trains" : "serves"; }

const char* word(comm::Pace pace) {
  return pace == comm::Pace::lockstep ? "lockstep" : pace == comm::Pace::bounded ? "bounded" : "free";
}

const char* word(comm::Fate fate) {
  return fate == comm::Fate::world ? "world" : fate == comm::Fate::group ? "group" : "peer";
}

bool trains(const KindOfRank& kind) { return kind.placement.role == parallel::Roles::Role::trains; }

std::string size_text(std::size_t bytes) { return human_bytes(static_cast<double>(bytes)); }

std::string text_of(const comm::Traffic& traffic) {
  return fmt::format("{} message{}, {}", with_commas(traffic.messages), traffic.messages == 1 ? "" : "s",
                     size_text(traffic.bytes));
}

// A table with columns as wide as their longest cell, and at least as wide as given; numbers are right-aligned.
struct TextColumn {
  std::string title;
  std::size_t width = 0;
  bool number = false;
};

std::string table(std::vector<TextColumn> columns, const std::vector<std::vector<std::string>>& rows) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].width = std::max(columns[c].width, columns[c].title.size());
    for (const std::vector<std::string>& row : rows) columns[c].width = std::max(columns[c].width, row[c].size());
  }
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += columns[c].number ? fmt::format("{:>{}} ", cell(c), columns[c].width)
                                : fmt::format("{:<{}} ", cell(c), columns[c].width);
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = line([&](std::size_t c) { return columns[c].title; });
  for (const std::vector<std::string>& row : rows) text += line([&](std::size_t c) { return row[c]; });
  return text;
}

std::string team_text(const KindOfRank& kind) {
  const Placement& mine = kind.placement;
  const comm::Circle& circle = trains(kind) ? mine.circles.front() : mine.circles.back();
  return mine.teams > 1 && trains(kind)
             ? fmt::format("{} ({} teams, {})", circle.ranks.size(), mine.teams, word(mine.circles.back().pace))
             : fmt::format("{}, {}", circle.ranks.size(), word(circle.pace));
}

std::string roles_table(const PlacedRanks& placed) {
  const bool cut = placed.batching.ways > 1;
  std::vector<std::vector<std::string>> rows;
  for (const KindOfRank& kind : placed.kinds) {
    const std::string sent = text_of(kind.traffic);
    rows.push_back({machine::ranges(kind.ranks), word(kind.placement.role), team_text(kind), kind.part,
                    trains(kind) ? fmt::format("1/{} of {}", kind.placement.shares, placed.batching.batch) : "-",
                    size_text(kind.memory_bytes),
                    cut && trains(kind) ? fmt::format("gradients {}; model {}", sent, text_of(kind.messages)) : sent});
  }
  return table({{"ranks", 12},
                {"role", 7},
                {"team", 20},
                {"network", 10},
                {"samples of a step", 18},
                {"memory", 10, true},
                {"sent in a step", 24, !cut}},
               rows);
}

// "8.22 MB to 1; 40.0 kB each to 2, 3"
std::string partners_text(const KindOfRank& kind) {
  std::map<std::int64_t, std::vector<int>, std::greater<>> by_bytes;
  for (const auto& [partner, bytes] : kind.sent_to) by_bytes[bytes].push_back(partner);
  std::string text;
  for (const auto& [bytes, partners] : by_bytes)
    text += fmt::format("{}{}{} to {}", text.empty() ? "" : "; ", size_text(bytes), partners.size() > 1 ? " each" : "",
                        machine::ranges(partners));
  return text.empty() ? "nothing" : text;
}

// "x[0:66, 0:256, 0:256, 0:4]".
std::string reads_text(const KindOfRank& kind) {
  std::vector<std::string> boxes;
  for (const auto& [name, box] : kind.reads) boxes.push_back(name + box.str());
  return fmt::format("{}", fmt::join(boxes, ", "));
}

// What every part reads, computes and sends, where a model is cut.
std::string parts_table(const PlacedRanks& placed) {
  std::vector<std::vector<std::string>> rows;
  std::size_t most = 0;
  for (const KindOfRank& kind : placed.kinds) {
    if (!trains(kind)) continue;
    most = std::max(most, kind.memory_bytes);
    rows.push_back({fmt::format("{}", kind.placement.part), reads_text(kind), fmt::format("{:.0f} %", 100 * kind.share),
                    human_flops(kind.flops), partners_text(kind)});
  }
  const auto whole = static_cast<double>(placed.whole_memory_bytes);
  return fmt::format(
             "\none model over {} ranks: at most {} on each; on one rank it would need {}, {:.1f} times as much, and "
             "compute {}\n\n",
             placed.batching.ways, size_text(most), size_text(placed.whole_memory_bytes),
             whole / static_cast<double>(std::max<std::size_t>(1, most)), human_flops(placed.whole_flops)) +
         table({{"part"},
                {"reads of a sample"},
                {"share", 5, true},
                {"computes", 9, true},
                {" sends to other parts in a step"}},
               rows);
}

nlohmann::ordered_json kind_json(const KindOfRank& kind) {
  nlohmann::ordered_json circles = nlohmann::ordered_json::array(), reads = nlohmann::ordered_json::object(),
                         sent_to = nlohmann::ordered_json::object();
  for (const comm::Circle& circle : kind.placement.circles)
    circles.push_back(
        {{"name", circle.name}, {"ranks", circle.ranks}, {"pace", word(circle.pace)}, {"fate", word(circle.fate)}});
  for (const auto& [name, box] : kind.reads) reads[name] = {{"begin", box.begin}, {"extent", box.shape.extents()}};
  for (const auto& [partner, bytes] : kind.sent_to) sent_to[std::to_string(partner)] = bytes;
  return {{"ranks", kind.ranks},
          {"role", word(kind.placement.role)},
          {"part", kind.part},
          {"reads", reads},
          {"share_of_sample", kind.share},
          {"plan", kind.fingerprint},
          {"shares", kind.placement.shares},
          {"circles", circles},
          {"memory_bytes", kind.memory_bytes},
          {"flops_per_step", kind.flops},
          {"messages_per_step", kind.traffic.messages},
          {"bytes_per_step", kind.traffic.bytes},
          {"messages_within_passes", kind.messages.messages},
          {"bytes_within_passes", kind.messages.bytes},
          {"bytes_within_passes_to", sent_to}};
}

}  // namespace

std::string describe(const PlacedRanks& placed) {
  std::string text = placed.batching.describe();
  if (placed.steps_per_epoch > 0) text += fmt::format("; {} steps in an epoch", with_commas(placed.steps_per_epoch));
  text += fmt::format("\nsplit {}, strategy {}\n\n", placed.composition.split.str(), placed.composition.strategy.str());
  text += roles_table(placed);
  return placed.batching.ways > 1 ? text + parts_table(placed) : text;
}

std::string to_json(const PlacedRanks& placed) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const KindOfRank& kind : placed.kinds) kinds.push_back(kind_json(kind));
  nlohmann::ordered_json all{{"batch", placed.batching.batch},
                             {"micro_batches", placed.batching.micro_batches},
                             {"rows", placed.batching.rows},
                             {"steps_per_epoch", placed.steps_per_epoch}};
  if (placed.batching.ways > 1) all["whole_memory_bytes"] = placed.whole_memory_bytes;
  all["kinds"] = kinds;
  return all.dump(2);
}

}  // namespace isobar::run
