// class_map(map=[...], from=[...]): class i becomes map[i]; with `from`, class from[i] does. A class that is not
// mentioned is an Error that names it, or becomes `otherwise` if that is given (at least 0). New classes are named
// after the old ones they contain.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

constexpr std::int64_t most = 1 << 16;  // classes, so that a table of them stays small

class ClassMap final : public Transform {
 public:
  ClassMap(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to, std::int64_t otherwise)
      : table_(std::ranges::max(from) + 1, static_cast<float>(otherwise)), otherwise_(static_cast<float>(otherwise)) {
    for (std::size_t i = 0; i < to.size(); ++i) table_[from[i]] = static_cast<float>(to[i]);
  }

  Grid infer(Grid field) const override {
    std::vector<std::string> names;
    for (std::size_t old = 0; old < field.classes.size(); ++old) {
      const float value = old < table_.size() ? table_[old] : otherwise_;
      if (value < 0) continue;
      const auto number = static_cast<std::size_t>(value);
      names.resize(std::max(names.size(), number + 1));
      names[number] += (names[number].empty() ? "" : "+") + field.classes[old];
    }
    field.classes = std::move(names);
    return field;
  }

  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    for (float& value : out) {
      const bool known = value >= 0 && value < static_cast<float>(table_.size());
      const auto number = static_cast<std::size_t>(known ? value : 0.0f);
      const float mapped = known && static_cast<float>(number) == value ? table_[number] : otherwise_;
      if (mapped < 0)
        fail("transform 'class_map': '{}' holds {}, a class that is not mapped; otherwise=N would map all such to N",
             at.field.name, value);
      value = mapped;
    }
  }

  std::string_view field() const override { return "y"; }

 private:
  std::vector<float> table_;  // the new class of every old one; below 0: none
  float otherwise_;
};

}  // namespace

extern const Row<Transform> class_map;
const Row<Transform> class_map{"class_map", "other numbers for the classes, which may also be joined",
                               [](Args& args) -> std::unique_ptr<Transform> {
                                 const std::vector<std::int64_t> to = args.integers("map", {});
                                 std::vector<std::int64_t> from = args.integers("from", {});
                                 const std::int64_t otherwise = args.integer("otherwise", -1);
                                 const auto all_classes = [](const std::vector<std::int64_t>& list) {
                                   return std::ranges::all_of(list, [](std::int64_t c) { return c >= 0 && c < most; });
                                 };
                                 args.require(!to.empty() && all_classes(to) && otherwise < most,
                                              "map, a list of classes from 0 to 65535");
                                 if (from.empty())
                                   for (std::size_t i = 0; i < to.size(); ++i) from.push_back(i);
                                 args.require(from.size() == to.size() && all_classes(from),
                                              "from, the old classes, 0 to 65535, one for each of map");
                                 return std::make_unique<ClassMap>(from, to, otherwise);
                               }};

}  // namespace isobar::transforms
