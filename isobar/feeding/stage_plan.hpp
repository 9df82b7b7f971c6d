// StagePlan: who reads which file from the shared file system, who gets it, and who writes it, decided before a byte is
// copied. All ranks make the same plan from the same list: file i is read by rank i mod N, and by nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"

namespace isobar::feeding {

/// Which files a rank gets: all of them; every N-th, no file twice; or a number drawn with replacement.
enum class Scheme { all, shard, quota };

/// One argument of a data set's Spec that names files.
struct StageSource {
  std::vector<std::string> keys;  ///< the position of the argument: {"path"}, or {"x", "path"} in a nested Spec
  std::string root;               ///< the folder that file names are relative to
  std::string inside;             ///< what the argument named, relative to the root: a file, a folder, a pattern
  bool single = false;            ///< names one file
  bool pattern = false;           ///< names files by a pattern
};

struct StageFile {
  std::int64_t source = 0;  ///< number of its StageSource
  std::string name;         ///< below its root
  std::int64_t bytes = 0;
  std::int64_t changed = 0;  ///< modification time, in nanoseconds
};

/// All files of a data set, as rank 0 saw them.
struct StageList {
  std::vector<StageSource> sources;
  std::vector<StageFile> files;

  std::filesystem::path original(const StageFile& file) const;
  /// The path below a stage folder of a file, or of what an argument named.
  std::filesystem::path staged(std::int64_t source, const std::string& name) const;
  std::int64_t bytes() const;

  std::vector<std::byte> pack() const;
  static StageList unpack(std::span<const std::byte> bytes);
};

/// Lists the files that the arguments `path` and `labels` of a data set name, including those of nested data sets. A
/// Spec that names no files is an Error.
StageList list_for_staging(const Spec& dataset);

/// The Spec with every source's argument replaced, in the order of the sources.
Spec with_sources(const Spec& dataset, const StageList& list, std::span<const std::string> paths);

class StagePlan {
 public:
  /// `nodes` gives the node of every rank; ranks of a node share one copy.
  StagePlan(StageList list, Scheme scheme, std::int64_t quota, std::uint64_t seed, std::span<const std::string> nodes);

  const StageList& list() const { return list_; }
  int size() const { return node_of_.size(); }
  int nodes() const { return ranks_of_.size(); }
  int node_of(int rank) const { return node_of_[rank]; }
  const std::vector<int>& ranks_of(int node) const { return ranks_of_[node]; }

  /// Whether ranks see different files.
  bool shares_out() const { return scheme_ != Scheme::all; }
  /// The files a rank will see, with repetitions, in order.
  std::vector<std::int64_t> seen_by(int rank) const;
  /// Whether a file must be copied to a node.
  bool wants(int node, std::int64_t file) const { return wants_[node][file]; }
  /// Marks a node as complete: nothing needs to be copied to it.
  void has_all(int node) { wants_[node].assign(list_.files.size(), false); }
  std::int64_t bytes_for(int node) const;

  int owner(std::int64_t file) const { return file % size(); }
  /// The rank that writes a file on a node: the file's reader if it is on the node, otherwise the node's ranks take
  /// turns.
  int writer(std::int64_t file, int node) const;
  /// Whether `rank` must send the file it owns to `to`.
  bool sends(int rank, int to, std::int64_t file) const;

  /// A hash of what would be staged on a node, for the folder's name.
  std::string fingerprint(int node) const;

 private:
  StageList list_;
  Scheme scheme_;
  std::int64_t quota_;
  std::uint64_t seed_;
  std::vector<int> node_of_;
  std::vector<std::vector<int>> ranks_of_;
  std::vector<std::vector<bool>> wants_;
};

}  // namespace isobar::feeding
