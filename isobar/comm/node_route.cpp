// The two-level route: a lane adds its slice over the ranks of its node, in shared memory, sums it with the same lane
// of the other nodes by a schedule, and gives it to all ranks of its node.
#include <optional>

#include "isobar/comm/flight.hpp"
#include "isobar/comm/node_group.hpp"
#include "isobar/comm/schedule_shelf.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::comm {
namespace {

class NodeFlight final : public Flight {
 public:
  NodeFlight(const Place& place, std::int64_t number, Range slice, const Schedule* schedule, const codec::Codec& codec)
      : place_(place), number_(number), slice_(slice), schedule_(schedule), codec_(codec) {
    if (!schedule_) stage_ = Stage::spread;
  }

  bool advance() override {
    NodeGroup& node = *place_.node;
    if (stage_ == Stage::start && node.all_started(number_)) {
      node.gather(slice_);
      walk_.emplace(*node.between(), *schedule_, Numbers(place_.memory.subspan(slice_.begin, slice_.count), codec_),
                    sum_tag(number_));
      stage_ = Stage::between;
    }
    if (stage_ == Stage::between && walk_->advance()) {
      walk_.reset();
      node.spread(slice_, number_);
      stage_ = Stage::spread;
    }
    return stage_ == Stage::spread && node.all_spread(number_);
  }

  std::vector<int> missing() const override { return place_.node->missing(number_); }

 private:
  enum class Stage { start, between, spread } stage_ = Stage::start;  // what it waits for
  const Place& place_;
  std::int64_t number_;
  Range slice_;
  const Schedule* schedule_;  // null: this rank owns nothing
  const codec::Codec& codec_;
  std::optional<Walk> walk_;
};

class NodeRoute final : public Route {
 public:
  NodeRoute(const Place& place, const Spec& algorithm) : place_(place), name_(algorithm.str()) {
    find(all_reduces(), algorithm.name(), "algorithm");
    if (place.node->owns()) shelf_.emplace(algorithm, place.node->between()->group());
  }

  std::unique_ptr<Flight> fly(std::int64_t number, Range range, const codec::Codec& codec) override {
    if (!shelf_) return std::make_unique<NodeFlight>(place_, number, Range{}, nullptr, codec);
    const Range slice = place_.node->slice(range);
    return std::make_unique<NodeFlight>(place_, number, slice, &shelf_->of(slice.count), codec);
  }
  std::string describe() const override { return fmt::format("hierarchical(outer={})", name_); }

 private:
  Place place_;
  std::string name_;
  std::optional<ScheduleShelf> shelf_;
};

}  // namespace

std::unique_ptr<Route> node_route(const Place& place, const Spec& algorithm) {
  return std::make_unique<NodeRoute>(place, algorithm);
}

}  // namespace isobar::comm
