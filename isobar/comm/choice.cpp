#include "isobar/comm/choice.hpp"

#include <algorithm>
#include <sstream>

#include "isobar/base/cache_file.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::comm {
namespace {

constexpr const char* first_line = "isobar: the fastest way to sum, by numbers; may be deleted";
constexpr const char* last_line = "end";

}  // namespace

std::optional<Spec> between_nodes(const Spec& algorithm) {
  if (algorithm.name() != "hierarchical" || algorithm.find("inner")) return std::nullopt;
  Args args(algorithm, "algorithm");
  const Spec outer = args.spec("outer", "auto");
  args.finish();
  return outer;
}

std::vector<Spec> candidates(const Spec& asked, bool many_per_node) {
  const bool by_nodes = between_nodes(asked) == Spec("auto");
  if (asked.name() != "auto" && !by_nodes) return {asked};
  std::vector<Spec> list;
  for (const char* name : {"recursive_doubling", "ring", "halving_doubling", "pipelined_ring", "tree"}) {
    if (many_per_node || by_nodes) list.push_back(Spec("hierarchical", {{"outer", Value(Spec(name))}}));
    else list.emplace_back(name);
  }
  return list;
}

std::size_t chosen(const Choice& choice, std::size_t count) {
  const auto rule = std::ranges::lower_bound(choice, count, {}, &Rule::up_to);
  return rule == choice.end() ? choice.back().candidate : rule->candidate;
}

Choice unmeasured_choice(std::size_t candidates) {
  constexpr std::size_t short_length = std::size_t{1} << 14;  // shorter is bound by latency
  if (candidates == 1) return {{1, 0}};
  return {{short_length, 0}, {2 * short_length, 1}};
}

std::string describe(const Choice& choice, std::span<const std::string> candidates) {
  std::string text;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const std::string& name = candidates[choice[i].candidate];
    if (i + 1 < choice.size() && choice[i + 1].candidate == choice[i].candidate) continue;
    if (i + 1 < choice.size()) {
      const double bytes = static_cast<double>(choice[i].up_to * sizeof(float));
      text += fmt::format("{} up to {}, ", name, human_bytes(bytes));
    } else {
      text += text.empty() ? name : name + " above";
    }
  }
  return text;
}

std::string choice_text(const Choice& choice, std::span<const std::string> candidates, const std::string& key) {
  std::string text = fmt::format("{}\n{}\n", first_line, key);
  for (const Rule& rule : choice) text += fmt::format("{} {}\n", rule.up_to, candidates[rule.candidate]);
  return text + last_line + "\n";
}

std::optional<Choice> parse_choice(const std::string& text, std::span<const std::string> candidates,
                                   const std::string& key) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != first_line) return {};
  if (!std::getline(lines, line) || line != key) return {};
  Choice choice;
  while (std::getline(lines, line)) {
    if (line == last_line) return choice.empty() ? std::nullopt : std::optional(choice);
    const std::size_t space = line.find(' ');
    if (space == 0 || space > 15 ||
        !std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(space),
                     [](char c) { return c >= '0' && c <= '9'; }))
      return {};
    const std::size_t up_to = std::stoull(line.substr(0, space));
    const auto candidate = std::ranges::find(candidates, line.substr(space + 1));
    if (candidate == candidates.end() || (!choice.empty() && up_to <= choice.back().up_to)) return {};
    choice.push_back({up_to, static_cast<std::size_t>(candidate - candidates.begin())});
  }
  return {};
}

std::filesystem::path choice_file(const std::string& key) {
  return cache_file(fmt::format("collectives-{:016x}.txt", hash_text(key)));
}

}  // namespace isobar::comm
