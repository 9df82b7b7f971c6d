#include "isobar/sim/topology.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_set>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/sim/network_shape.hpp"

namespace isobar::sim {

namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::routing::NetPoint;
using Kind = NetworkModel::Kind;

// SimGrid corrects bandwidths and latencies for TCP over gigabit Ethernet, limits flows by TCP's window and adds
// traffic for acknowledgements; of all that nothing is wanted. Actors need little stack.
s4u::Engine* make_engine() {
  expects(!s4u::Engine::is_initialized(), "one Topology in the life of a process");
  std::vector<std::string> words{"isobar-sim",
                                 "--log=root.thresh:warning",
                                 "--cfg=network/model:CM02",
                                 "--cfg=network/bandwidth-factor:1",
                                 "--cfg=network/latency-factor:1",
                                 "--cfg=network/weight-S:0",
                                 "--cfg=network/TCP-gamma:0",
                                 "--cfg=network/crosstraffic:0",
                                 "--cfg=contexts/stack-size:128"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = std::ssize(arguments);
  arguments.push_back(nullptr);
  return new s4u::Engine(&count, arguments.data());  // forever: no other can be made
}

/// Builds a zone of the platform's kind; hosts are made in the order of their numbers.
class Builder {
 public:
  Builder(const Platform& platform, std::vector<s4u::Host*>& hosts)
      : platform_(platform), network_(platform.network), hosts_(hosts) {}

  void build(int nodes) {
    switch (network_.kind) {
      case Kind::crossbar: return build_crossbar(nodes);
      case Kind::fat_tree: return build_fat_tree();
      case Kind::dragonfly: return build_dragonfly();
      case Kind::torus: return build_torus();
    }
  }

 private:
  double link_rate() const { return network_.link_bytes_per_second * network_.efficiency; }
  double injection_rate() const { return network_.injection_bytes_per_second; }

  // Computing is replayed as waiting, so a host's speed is of no account.
  s4u::Host* add_host(s4u::NetZone* zone) {
    s4u::Host* host = zone->create_host("node-" + std::to_string(hosts_.size()), 1.0);
    host->seal();
    hosts_.push_back(host);
    return host;
  }

  s4u::Link* add_inside(s4u::NetZone* zone, unsigned long node) const {
    return zone->create_link("inside-" + std::to_string(node), platform_.node.inside_bytes_per_second)->seal();
  }

  /// Adds a host to a star, with its link inside and one in each direction between it and the middle.
  void fill_star(s4u::NetZone* star, double rate) {
    const s4u::Host* host = add_host(star);
    const unsigned long node = hosts_.size() - 1;
    const s4u::Link* link = star->create_split_duplex_link("injection-" + std::to_string(node), rate)->seal();
    star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)}, true);
    star->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(add_inside(star, node))}, false);
  }

  s4u::ClusterCallbacks plain_leaves() {
    return s4u::ClusterCallbacks(
        [this](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
          return std::pair<NetPoint*, NetPoint*>(add_host(zone)->get_netpoint(), nullptr);
        },
        [this](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long node) {
          return add_inside(zone, node);
        },
        {});
  }

  void build_crossbar(int nodes) {
    s4u::NetZone* zone = s4u::create_star_zone("network");
    for (int node = 0; node < nodes; ++node) fill_star(zone, std::min(link_rate(), injection_rate()));
    zone->seal();
  }

  void build_fat_tree() {
    const auto unsigned_of = [](const std::vector<std::int64_t>& numbers) {
      return std::vector<unsigned>(numbers.begin(), numbers.end());
    };
    const s4u::FatTreeParams shape(network_.shape.size(), unsigned_of(network_.shape), unsigned_of(network_.up),
                                   unsigned_of(network_.parallel));
    s4u::create_fatTree_zone("network", nullptr, shape, plain_leaves(), link_rate(), 0,
                             s4u::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    limit_nodes(std::min(link_rate(), injection_rate()));
  }

  // A router's links to its nodes are of another kind than those to routers: as fast as the nodes can use them. SimGrid
  // 3.32 loses sight of the chassis on the way to another router of a group: such routes may have a link between
  // chassis too many or too few. With one chassis in a group all is well.
  void build_dragonfly() {
    const auto number = [](std::int64_t value) { return static_cast<unsigned>(value); };
    const auto &shape = network_.shape, &parallel = network_.parallel;
    s4u::create_dragonfly_zone("network", nullptr,
                               {{number(shape[0]), number(parallel[0])},
                                {number(shape[1]), number(parallel[1])},
                                {number(shape[2]), number(parallel[2])},
                                number(shape[3])},
                               plain_leaves(), link_rate(), 0, s4u::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    limit_nodes(injection_rate());
  }

  // Others' messages pass through a node of a torus, so its injection has links of its own, in a zone of its own.
  void build_torus() {
    const auto leaf = [this](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long node) {
      s4u::NetZone* star = s4u::create_star_zone("leaf-" + std::to_string(node));
      star->set_parent(zone);
      fill_star(star, injection_rate());
      NetPoint* router = star->create_router("router-" + std::to_string(node));
      star->add_route(router, nullptr, nullptr, nullptr, {}, true);
      star->seal();
      return std::pair<NetPoint*, NetPoint*>(star->get_netpoint(), router);
    };
    const std::vector<unsigned long> dimensions(network_.shape.begin(), network_.shape.end());
    s4u::create_torus_zone("network", nullptr, dimensions, s4u::ClusterCallbacks(leaf), link_rate(), 0,
                           s4u::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
  }

  /// Every node has one link to its switch and one from it: the ends of any route.
  void limit_nodes(double rate) const {
    std::vector<s4u::Link*> links;
    for (std::size_t node = 0; hosts_.size() > 1 && node < hosts_.size(); ++node) {
      const s4u::Host* next = hosts_[(node + 1) % hosts_.size()];
      links.clear();
      hosts_[node]->route_to(next, links, nullptr);
      links.front()->set_bandwidth(rate);
      links.back()->set_bandwidth(rate);
    }
  }

  const Platform& platform_;
  const NetworkModel& network_;
  std::vector<s4u::Host*>& hosts_;
};

}  // namespace

Topology::Topology(const Platform& platform, int nodes, bool without_contention)
    : platform_(platform), nodes_(nodes), without_contention_(without_contention) {
  if (nodes < 1 || nodes > platform.nodes)
    fail_usage("platform {} has {} nodes; {} of them are not possible", platform.name, with_commas(platform.nodes),
               with_commas(nodes));
  if (const std::string problem = shape_problem(platform.network, platform.nodes); !problem.empty())
    fail_usage("platform {}: {}", platform.name, problem);
  const s4u::Engine* engine = make_engine();
  Builder(platform, hosts_).build(nodes);
  if (without_contention_) free_what_lies_between();
  for (const s4u::Link* link : engine->get_all_links()) {
    numbers_.emplace(link, links());
    capacities_.push_back(link->get_bandwidth());
  }
}

// Every route begins and ends with a link of a node.
void Topology::free_what_lies_between() const {
  std::unordered_set<const s4u::Link*> of_nodes;
  for (int node = 0; node < std::ssize(hosts_); ++node)
    for (const int other : {node, static_cast<int>((node + 1) % std::ssize(hosts_))}) {
      route_.clear();
      host(node)->route_to(host(other), route_, nullptr);
      of_nodes.insert({route_.front(), route_.back()});
    }
  constexpr double as_good_as_unlimited = 1e18;
  for (s4u::Link* link : s4u::Engine::get_instance()->get_all_links())
    if (!of_nodes.contains(link)) link->set_bandwidth(as_good_as_unlimited);
}

double Topology::route(int from, int to, std::vector<int>& links) const {
  route_.clear();
  host(from)->route_to(host(to), route_, nullptr);
  links.clear();
  for (const s4u::Link* link : route_) links.push_back(numbers_.at(link));
  if (from == to) return platform_.node.inside_latency;
  const NetworkModel& network = platform_.network;
  const int links_of_neighbours = network.kind == Kind::torus ? 3 : 2;
  return network.latency + network.hop_latency * (std::ssize(links) - links_of_neighbours);
}

}  // namespace isobar::sim
