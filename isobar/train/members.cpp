#include "isobar/train/members.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"

namespace isobar::train {
namespace {

using OrderedJson = nlohmann::ordered_json;

// "rank 2", "ranks 2 and 3".
std::string named(const std::vector<int>& ranks) {
  std::vector<std::string> words;
  for (const int rank : ranks) words.push_back(std::to_string(rank));
  const std::string last = words.back();
  words.pop_back();
  return words.empty() ? "rank " + last : fmt::format("ranks {} and {}", join(words, ", "), last);
}

std::vector<int> without(const std::vector<int>& all, const std::vector<int>& taken) {
  std::vector<int> rest;
  for (const int rank : all)
    if (std::ranges::find(taken, rank) == taken.end()) rest.push_back(rank);
  return rest;
}

std::vector<int> numbers_in(const OrderedJson& object, const char* key) {
  std::vector<int> numbers;
  if (const auto list = object.find(key); list != object.end() && list->is_array())
    for (const OrderedJson& number : *list)
      if (number.is_number_integer()) numbers.push_back(number.get<int>());
  return numbers;
}

}  // namespace

std::string MembersChange::str() const {
  std::string text;
  if (!left.empty()) text = named(left) + " left";
  if (!joined.empty())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", named(joined),
                        joined.size() > 1 ? "take their places" : "takes its place");
  if (text.empty()) text = "the ranks met again";
  return text + fmt::format("; {} rank{} after step {}", members.size(), members.size() == 1 ? " goes on" : "s go on",
                            with_commas(step));
}

MembersChange change_of(const std::vector<int>& before, const std::vector<int>& after) {
  MembersChange change;
  change.left = without(before, after);
  change.joined = without(after, before);
  change.members = after;
  return change;
}

std::string to_json(const std::vector<MembersChange>& changes) {
  OrderedJson list = OrderedJson::array();
  for (const MembersChange& change : changes)
    list.push_back({{"step", change.step},
                    {"left", change.left},
                    {"joined", change.joined},
                    {"members", change.members},
                    {"seconds", change.seconds}});
  return list.dump();
}

std::vector<MembersChange> changes_in(const std::string& json) {
  std::vector<MembersChange> changes;
  const OrderedJson list = OrderedJson::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return changes;
  for (const OrderedJson& object : list) {
    if (!object.is_object()) continue;
    MembersChange change;
    if (const auto step = object.find("step"); step != object.end() && step->is_number_integer())
      change.step = step->get<std::int64_t>();
    if (const auto seconds = object.find("seconds"); seconds != object.end() && seconds->is_number())
      change.seconds = seconds->get<double>();
    change.left = numbers_in(object, "left");
    change.joined = numbers_in(object, "joined");
    change.members = numbers_in(object, "members");
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace isobar::train
