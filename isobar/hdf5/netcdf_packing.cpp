#include "isobar/hdf5/netcdf_packing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::hdf5 {
namespace {

std::optional<double> single(const NetcdfVariable& variable, std::string_view key) {
  const NetcdfAttribute* found = variable.attribute(key);
  if (!found || found->numbers.empty()) return std::nullopt;
  return found->numbers[0];
}

}  // namespace

NetcdfPacking::NetcdfPacking(const NetcdfVariable& variable) {
  const files::Stored& stored = variable.stored;
  const bool whole = stored.kind == files::Stored::Kind::whole;
  exact_as_float_ = (whole && stored.bytes <= 2) || (stored.kind == files::Stored::Kind::real && stored.bytes <= 4);
  scale_ = single(variable, "scale_factor").value_or(1);
  offset_ = single(variable, "add_offset").value_or(0);

  const std::string sign = variable.text("_Unsigned");
  if (whole && stored.bytes <= 4) {
    const double values = std::ldexp(1.0, 8 * stored.bytes);
    if (stored.is_signed && sign == "true") wrap_ = values, turn_ = 0;
    if (!stored.is_signed && sign == "false") wrap_ = -values, turn_ = values / 2;
  }
  // Attributes have the variable's stored type, so their signedness flips with it.
  const auto turned = [&](double number) {
    if (wrap_ > 0 && number < turn_) return number + wrap_;
    if (wrap_ < 0 && number >= turn_) return number + wrap_;
    return number;
  };

  if (const NetcdfAttribute* fill = variable.attribute("_FillValue"); fill && !fill->numbers.empty())
    missing_.push_back(turned(fill->numbers[0]));
  else if (const auto otherwise = default_fill(stored)) missing_.push_back(turned(*otherwise));
  if (const NetcdfAttribute* listed = variable.attribute("missing_value"))
    for (const double number : listed->numbers) missing_.push_back(turned(number));
  if (stored.kind == files::Stored::Kind::real &&
      stored.bytes == 4)  // 1e20 as a double is not the float that was stored
    for (double& number : missing_) number = static_cast<float>(number);
  std::erase_if(missing_, [](double number) { return std::isnan(number); });
  std::ranges::sort(missing_);
  missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());

  // Limits apply to stored numbers, unless their type shows that they apply to values: floating-point limits of packed
  // integers.
  const bool packed = variable.attribute("scale_factor") || variable.attribute("add_offset");
  const auto limit = [&](const NetcdfAttribute* from, std::size_t at, bool is_low) {
    if (!from || at >= from->numbers.size() || std::isnan(from->numbers[at])) return;
    const bool of_values = packed && whole && from->stored.kind == files::Stored::Kind::real;
    double number = of_values ? from->numbers[at] : turned(from->numbers[at]);
    if (stored.kind == files::Stored::Kind::real && stored.bytes == 4) number = static_cast<float>(number);
    (is_low ? (of_values ? value_low_ : low_) : (of_values ? value_high_ : high_)) = number;
  };
  limit(variable.attribute("valid_min"), 0, true);
  limit(variable.attribute("valid_max"), 0, false);
  limit(variable.attribute("valid_range"), 0, true);
  limit(variable.attribute("valid_range"), 1, false);
}

template <class T>
void NetcdfPacking::unpack(std::span<T> numbers, T missing) const {
  if (wrap_ > 0)
    for (T& number : numbers) number = number < T(turn_) ? number + T(wrap_) : number;
  if (wrap_ < 0)
    for (T& number : numbers) number = number >= T(turn_) ? number + T(wrap_) : number;
  // Nearly always at most two numbers mean missing; NaN never compares equal.
  const T nothing = std::numeric_limits<T>::quiet_NaN();
  const T first = !missing_.empty() ? T(missing_[0]) : nothing, second = missing_.size() > 1 ? T(missing_[1]) : nothing;
  const T low = T(low_), high = T(high_);
  if (missing_.size() > 2)
    for (T& number : numbers)
      if (std::ranges::find(missing_, double(number)) != missing_.end()) number = nothing;
  const bool scaled = scale_ != 1 || offset_ != 0, limited = value_low_ > -infinity || value_high_ < infinity;
  // `&`, not `&&`: without branches the loop is vectorised; a NaN fails the comparison with the limits.
  const auto held = [&](T n) { return bool((n >= low) & (n <= high) & !(n == first) & !(n == second)); };
  if (!scaled && !limited) {
    for (T& number : numbers) number = held(number) ? number : missing;
    return;
  }
  for (T& number : numbers) {
    const double value = double(number) * scale_ + offset_;
    const bool keep = held(number) & (value >= value_low_) & (value <= value_high_);
    number = keep ? T(value) : missing;
  }
}

std::string NetcdfPacking::describe() const {
  std::vector<std::string> facts;
  if (scale_ != 1 || offset_ != 0)
    facts.push_back(fmt::format("packed: {:g} * stored {} {:g}", scale_, offset_ < 0 ? '-' : '+', std::abs(offset_)));
  if (wrap_ != 0) facts.push_back(wrap_ > 0 ? "unsigned" : "signed");
  if (low_ > -infinity || high_ < infinity) facts.push_back(fmt::format("valid: {} to {} as stored", low_, high_));
  if (value_low_ > -infinity || value_high_ < infinity)
    facts.push_back(fmt::format("valid: {} to {}", value_low_, value_high_));
  return join(facts, ", ");
}

template void NetcdfPacking::unpack(std::span<float>, float) const;
template void NetcdfPacking::unpack(std::span<double>, double) const;

}  // namespace isobar::hdf5
