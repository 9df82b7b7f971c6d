// All strategies.
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

extern const Row<Strategy> async;     // async.cpp
extern const Row<Strategy> easgd;     // easgd.cpp
extern const Row<Strategy> ensemble;  // ensemble.cpp
extern const Row<Strategy> gossip;    // gossip.cpp
extern const Row<Strategy> groups;    // groups.cpp
extern const Row<Strategy> hogwild;   // hogwild.cpp
extern const Row<Strategy> lagged;    // lagged.cpp
extern const Row<Strategy> local;     // local.cpp
extern const Row<Strategy> server;    // server.cpp
extern const Row<Strategy> solo;      // solo.cpp
extern const Row<Strategy> stale;     // stale.cpp
extern const Row<Strategy> sync;      // sync.cpp

Table<Row<Strategy>> strategies() {
  static constexpr const Row<Strategy>* all[] = {&async,  &easgd, &ensemble, &gossip, &groups, &hogwild,
                                                 &lagged, &local, &server,   &solo,   &stale,  &sync};
  return all;
}

}  // namespace isobar::parallel
