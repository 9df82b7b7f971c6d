// log1p: ln(1 + x), as CosmoFlow takes its counts of particles; numbers below -1 are an Error.
#include <algorithm>
#include <cmath>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Log1p final : public Transform {
 public:
  void apply(const Grid& field, std::span<const float>, std::span<float> out, const Draw&) const override {
    // Counts repeat themselves: most are whole and small, and a table is several times faster than the logarithm.
    const std::vector<float>& small = table();
    unsigned below = 0;
    for (const float value : out) below |= value < -1.0f;
    if (below)
      fail("transform 'log1p': '{}' holds {}; the logarithm of 1 + x needs x of at least -1", field.name,
           *std::ranges::find_if(out, [](float value) { return value < -1.0f; }));
    const auto limit = static_cast<float>(small.size());
    for (float& value : out) {
      const float bounded = value >= 0 && value < limit ? value : 0.0f;
      const auto whole = static_cast<std::size_t>(static_cast<int>(bounded));
      value = static_cast<float>(whole) == value ? small[whole] : std::log1p(value);
    }
  }

 private:
  static const std::vector<float>& table() {
    static const std::vector<float> made = [] {
      std::vector<float> logarithms(4096);
      for (std::size_t i = 0; i < logarithms.size(); ++i) logarithms[i] = std::log1p(static_cast<float>(i));
      return logarithms;
    }();
    return made;
  }
};

}  // namespace

extern const Row<Transform> log1p;
const Row<Transform> log1p{"log1p", "ln(1 + x), for counts",
                           [](Args&) -> std::unique_ptr<Transform> { return std::make_unique<Log1p>(); }};

}  // namespace isobar::transforms
