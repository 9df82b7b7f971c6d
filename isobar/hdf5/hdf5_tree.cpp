#include "isobar/hdf5/hdf5_tree.hpp"

#include <set>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/hdf5/hdf5_array.hpp"

namespace isobar::hdf5 {
namespace {

constexpr int deepest = 32;
constexpr int most_links = 100'000;

class TreeWalk {
 public:
  TreeWalk(const Hdf5File& file, std::size_t most) : file_(file), most_(most) {}

  std::vector<Hdf5Entry> run() {
    enter("/", "", 0);
    return std::move(entries_);
  }

 private:
  void enter(const std::string& group, const std::string& prefix, int depth) {
    if (depth > deepest || !entered_.insert(file_.identity(group)).second) return;
    for (const std::string& child : file_.children(group)) {
      if (entries_.size() >= most_ || ++links_ > most_links) return;
      const std::string name = prefix + child;
      const Hdf5Kind kind = file_.kind(name);
      if (kind == Hdf5Kind::group) enter(name, name + "/", depth + 1);
      if (kind == Hdf5Kind::array) entries_.push_back(described(name));
    }
  }

  Hdf5Entry described(const std::string& name) const {
    Hdf5Entry entry{name, {}, {}, {}};
    try {
      entry.shape = file_.shape(name);
      entry.type = file_.type_name(name);
      entry.type = Hdf5Array(file_, name).describe();
    } catch (const Error& error) {
      entry.obstacle = one_line(error.what(), 300);
    }
    return entry;
  }

  const Hdf5File& file_;
  std::size_t most_;
  int links_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> entered_{};
  std::vector<Hdf5Entry> entries_{};
};

}  // namespace

std::vector<Hdf5Entry> list_arrays(const Hdf5File& file, std::size_t most) { return TreeWalk(file, most).run(); }

}  // namespace isobar::hdf5
