#include "isobar/parallel/slowed.hpp"

#include <charconv>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::parallel {
namespace {

constexpr double most_times = 1000;

template <class Number>
bool read_whole(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

SlowRanks read_slow_ranks(std::string_view text) {
  SlowRanks slow;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view each = without_spaces(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t colon = each.find(':');
    int rank = -1;
    double times = 0;
    const bool sound = colon != std::string_view::npos && read_whole(each.substr(0, colon), rank) &&
                       read_whole(each.substr(colon + 1), times) && rank >= 0 && times >= 1 && times <= most_times;
    if (!sound)
      fail_usage("slow '{}': write a rank and how many times slower it is, 1 to {:g}: 1:3, or 1:3,2:1.5 for two",
                 one_line(text), most_times);
    if (!slow.emplace(rank, times).second) fail_usage("slow '{}': rank {} is named twice", one_line(text), rank);
  }
  return slow;
}

double slowness(const Spec& recipe, const Roles& roles, int rank) {
  Args root(recipe, "recipe");
  if (!root.has("parallel")) return 1;
  const SlowRanks slow = read_slow_ranks(root.section("parallel").text("slow", ""));
  for (const auto& [each, times] : slow) {
    if (each >= std::ssize(roles.role))
      fail_usage("slow '{}:{:g}': there is no rank {}; this run has ranks 0 to {}", each, times, each,
                 std::ssize(roles.role) - 1);
    if (roles.role[static_cast<std::size_t>(each)] == Roles::Role::serves)
      fail_usage("slow '{}:{:g}': rank {} serves parameters; only ranks that train can be made slower", each, times,
                 each);
  }
  const auto mine = slow.find(rank);
  return mine == slow.end() ? 1 : mine->second;
}

void SlowedReplica::prolong(double begin) const {
  const double until = begin + times_ * (now_seconds() - begin);
  while (now_seconds() < until) {
  }
}

double SlowedReplica::forward(const Feed& feed) {
  const double begin = now_seconds();
  const double loss = inner_->forward(feed);
  prolong(begin);
  return loss;
}

// What a strategy does when a gradient is ready is its own time, and is not prolonged.
void SlowedReplica::backward(const Feed& feed, const std::function<void(int p)>& ready) {
  double begin = now_seconds();
  inner_->backward(feed, [&](int p) {
    prolong(begin);
    if (ready) ready(p);
    begin = now_seconds();
  });
  prolong(begin);
}

void SlowedReplica::update(int p, std::span<const float> gradient, const optim::Step& step) {
  const double begin = now_seconds();
  inner_->update(p, gradient, step);
  prolong(begin);
}

}  // namespace isobar::parallel
