// The route that treats all ranks alike: a flight is one walk of a schedule.
#include "isobar/comm/flight.hpp"
#include "isobar/comm/schedule_shelf.hpp"
#include "isobar/comm/walk_flight.hpp"

namespace isobar::comm {
namespace {

class FlatRoute final : public Route {
 public:
  FlatRoute(const Place& place, const Spec& algorithm)
      : place_(place), name_(algorithm.str()), shelf_(algorithm, place.comm.group()) {}

  std::unique_ptr<Flight> fly(std::int64_t number, Range range, const codec::Codec& codec) override {
    return std::make_unique<WalkFlight>(Walk(place_.comm, shelf_.of(range.count),
                                             {place_.memory.subspan(range.begin, range.count), codec},
                                             sum_tag(number)));
  }
  std::string describe() const override { return name_; }

 private:
  Place place_;
  std::string name_;
  ScheduleShelf shelf_;
};

}  // namespace

std::unique_ptr<Route> flat_route(const Place& place, const Spec& algorithm) {
  return std::make_unique<FlatRoute>(place, algorithm);
}

}  // namespace isobar::comm
