// Numbers that are not finite, found before they spoil the weights: one pass over memory that was just summed and is
// about to be read again, so that it costs little. What is summed is equal on all ranks, so all find the same.
#pragma once

#include <span>
#include <string>

#include "isobar/base/error.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// Whether no number is infinite or NaN; by all threads.
bool all_finite(std::span<const float> numbers);

/// How many parameters that are not trained, such as running statistics, hold numbers that are not finite: where they
/// lie, or `in_gradients`, where their parts wait to be summed.
std::size_t spoilt_statistics(const Replica& replica, bool in_gradients = false);

/// What a piece of memory holds: the smallest and largest of the finite numbers (0 when there are none), and how many
/// are not.
struct Extent {
  double low = 0, high = 0;
  std::size_t bad = 0, all = 0;
  std::string str() const;  ///< "from -1.5 to 2e+30", "3 of 10 not finite, the others from -1.5 to 2e+30"
};
Extent extent_of(std::span<const float> numbers);

/// What is known of a step after its last forward pass, over all ranks.
struct ForwardSummary {
  double loss = 0;
  double bad = 0;  ///< running statistics that are not finite, and whatever else that is bad was told with them
};

/// A step came out with numbers that are not finite: thrown on all ranks alike, when no sum is under way any more.
class NotFinite : public Error {
 public:
  NotFinite(const std::string& message, std::string what_part, int spoilt, int updates)
      : Error(message), part(std::move(what_part)), parameter(spoilt), updated(updates) {}

  std::string part;    ///< "the loss", "the gradient of 'conv.weight'", "the running statistics"
  int parameter = -1;  ///< whose gradient it is; -1: no gradient
  int updated = 0;     ///< parameters that were updated before it was found: none with Care::whole
};

/// One search after the other: looks at the parts of a step as they come, remembers the first that is bad, and throws
/// when told.
class FiniteSearch {
 public:
  explicit FiniteSearch(bool on = true) : on_(on) {}

  /// Forgets what was found before.
  void begin();
  void look(const ForwardSummary& summary);
  /// The gradients of parameters [first, last), which lie in `gradients` as all gradients do and become final with the
  /// step of this number.
  void look(Replica& replica, std::span<const float> gradients, int first, int last, std::int64_t step);
  bool good() const { return message_.empty(); }
  /// Throws NotFinite if something bad was found; `updated` parameters have been updated meanwhile.
  void raise(int updated = 0) const;

 private:
  bool on_;
  std::string message_, part_;
  int parameter_ = -1;
  Chore chore_{Category::optimizer, "search for numbers that are not finite"};
};

}  // namespace isobar::parallel
