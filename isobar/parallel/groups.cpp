// groups: teams of ranks that train in lockstep within, with parameter servers between them (Kurth et al. 2017). Only
// the first rank of a team talks with servers, and gives new weights to its team. One team is its inner strategy; teams
// of one rank are what is between them alone.
#include "isobar/base/text.hpp"
#include "isobar/parallel/served_parts.hpp"

namespace isobar::parallel {
namespace {

// Lockstep between teams, too: the mean of their gradients, weighted by their samples.
Between read_together(Args&) {
  return {"server", comm::Pace::lockstep, [] { return apply_together(true); },
          [](TeamLine& line) { return push_gradients(line, 1); }};
}

constexpr std::pair<std::string_view, Between (*)(Args&)> outer_kinds[] = {
    {"async", read_async}, {"server", read_together}, {"stale", read_stale}};

}  // namespace

Between read_between(Spec spec, Spec* resolved) {
  for (const auto& [name, read] : outer_kinds) {
    if (spec.name() != name) continue;
    Args args(spec, "strategy between groups");
    Between between = read(args);
    args.finish();
    if (resolved) *resolved = args.resolved();
    return between;
  }
  std::vector<std::string> known;
  for (const auto& [name, read] : outer_kinds) known.emplace_back(name);
  fail_usage("strategy 'groups': outer = '{}' does not go between groups, which needs parameter servers; valid: {}",
             spec.name(), join(known, ", "));
}

extern const Row<Strategy> groups;
const Row<Strategy> groups{
    "groups", "teams of ranks train by an inner strategy, and exchange with each other over parameter servers",
    [](Args& args) -> std::unique_ptr<Strategy> {
      const std::int64_t of = args.integer("of");
      args.require(of >= 1 && of <= 1'000'000, "of, the ranks of a group, must lie between 1 and 1000000");
      Spec inner = args.spec("inner", "sync"), outer = args.spec("outer", "async");
      const ServedOptions options = read_served_options(args);
      std::unique_ptr<Strategy> within = make(strategies(), inner, "strategy within groups", &inner);
      args.require(within->traits().nests,
                   fmt::format("inner = '{}' cannot be within groups: only strategies can that apply the sum of a "
                               "step's gradients in that step: sync; solo for groups of one",
                               inner.name()));
      within->roles(static_cast<int>(of));
      Between between = read_between(outer, &outer);
      args.record("inner", inner);
      args.record("outer", outer);
      return serve_teams("groups", static_cast<int>(of), std::move(within), std::move(between), options);
    }};

}  // namespace isobar::parallel
