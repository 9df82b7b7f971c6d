#include "isobar/train/agreement.hpp"

#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::train {
namespace {

constexpr std::size_t longest_value = 160;  // of a fact in a message

}  // namespace

void meet(comm::Comm& comm, const WaitLimits& limits, const std::string& what) {
  barrier(comm, while_all_answer(comm, limits, what));
}

void expect_same(comm::Comm& comm, std::span<const Fact> facts) {
  if (comm.size() == 1) return;
  std::string text;  // names and values, each zero-terminated
  if (comm.rank() == 0)
    for (const Fact& fact : facts) text += fact.name + '\0' + fact.value + '\0';
  broadcast(comm, text);
  std::size_t at = 0;
  const auto next = [&]() -> std::optional<std::string> {
    if (at >= text.size()) return std::nullopt;
    std::string word(text.c_str() + at);
    at += word.size() + 1;
    return word;
  };
  const int first = comm.members()[0];
  const auto shown = [](const std::string& value) { return one_line(value, longest_value); };
  for (const Fact& fact : facts) {
    const auto name = next(), value = next();
    if (!name)
      fail("{} is {} here; rank {} has no such thing: all ranks must run the same", fact.name, shown(fact.value),
           first);
    if (*name != fact.name)
      fail("{} is {} here; rank {} instead has {}, {}: all ranks must run the same", fact.name, shown(fact.value),
           first, *name, shown(*value));
    if (*value != fact.value)
      fail("{} is {} here and {} on rank {}: all ranks must run the same", fact.name, shown(fact.value), shown(*value),
           first);
  }
  if (const auto name = next())
    fail("rank {} has {}, {}, and this rank has not: all ranks must run the same", first, *name,
         shown(next().value_or("")));
}

}  // namespace isobar::train
