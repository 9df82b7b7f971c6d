// Platform: a machine as a simulation sees it: nodes, network, file systems, noise. Read from a small TOML file; those
// shipped are known by name. All rates are bytes or operations per second, all times seconds; the files use the units
// people use (GB/s, us).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/spec.hpp"

namespace isobar::sim {

struct NodeModel {
  double flops_per_second = 0;  ///< sustained in training, of the whole node
  int cores = 1;
  int ranks = 1;                       ///< ranks a node usually runs: one, or one for each accelerator
  double memory_bytes_per_second = 0;  ///< of one rank with all its threads: optimizer updates, copies
  double sum_bytes_per_second = 0;     ///< of the thread of a rank that communicates, when it adds
  double inside_bytes_per_second = 0;  ///< between two ranks of the node
  double inside_latency = 0;
  double storage_bytes_per_second = 0;  ///< reading from the node's own storage; 0: it has none
};

struct NetworkModel {
  enum class Kind { crossbar, fat_tree, dragonfly, torus } kind = Kind::crossbar;
  /// fat_tree: down, up and parallel links by level; dragonfly: groups, chassis, routers, nodes per router; torus: its
  /// dimensions; crossbar: nothing.
  std::vector<std::int64_t> shape{}, up{}, parallel{};
  double link_bytes_per_second = 0;
  double injection_bytes_per_second = 0;  ///< what a node can send, and receive, at a time
  double latency = 0;                     ///< of a message between neighbours, software included
  double hop_latency = 0;                 ///< of every further switch
  double message_overhead = 0;            ///< what a message costs its rank, whatever its length
  double core_seconds_per_byte = 0;       ///< that a rank sends, taken from its computing: no core is kept for messages
  double efficiency = 1;                  ///< part of a link's bandwidth that routing and protocol leave
};

/// Where samples may be read from, together by all nodes.
struct StorageModel {
  double bytes_per_second = 0;         ///< all clients together; 0: there is none
  double client_bytes_per_second = 0;  ///< one node at most
};

struct NoiseModel {
  double sigma = 0;                  ///< of the logarithm of a rank's computing time, step by step
  double straggler_probability = 0;  ///< that a rank is late in a step
  double straggler_seconds = 0;      ///< by so much
};

struct FailureModel {
  double node_hours = 0;  ///< mean time between failures of one node; 0: never
  double restart_seconds = 0;
};

struct Platform {
  std::string name{}, summary{};
  int nodes = 1;
  /// Nodes that are emulated compute with so many cores together, one a rank; 0: every node has its own.
  int shared_cores = 0;
  NodeModel node{};
  NetworkModel network{};
  StorageModel file_system{}, burst_buffer{};
  NoiseModel noise{};
  FailureModel failures{};
};

/// Reads a platform: a name of platform_names() or a TOML file. What is missing, unknown or impossible is a UsageError
/// that names file, key and what would be valid.
Platform read_platform(const std::string& name_or_file);
Platform parse_platform(std::string_view text, std::string_view origin);

std::vector<std::string> platform_names();
/// The text of a shipped file.
std::string_view platform_text(std::string_view name);

}  // namespace isobar::sim
