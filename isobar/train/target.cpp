#include "isobar/train/target.hpp"

#include <charconv>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::train {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::string Target::str() const { return fmt::format("{}{}{:g}", metric, larger ? ">=" : "<=", value); }

Target read_target(std::string_view text) {
  const std::size_t sign = text.find_first_of("<>");
  Target target;
  bool sound = sign != std::string_view::npos && sign + 1 < text.size() && text[sign + 1] == '=';
  if (sound) {
    target.metric = trimmed(text.substr(0, sign));
    target.larger = text[sign] == '>';
    const std::string_view number = trimmed(text.substr(sign + 2));
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), target.value);
    sound = !target.metric.empty() && code == std::errc() && end == number.data() + number.size() &&
            std::isfinite(target.value);
  }
  if (!sound)
    fail_usage("report.target '{}': write a metric and the value to reach, such as mae<=0.124 or accuracy>=0.75",
               one_line(text));
  return target;
}

bool larger_is_better(std::string_view metric) {
  const std::string_view name = metric.substr(0, metric.find('.'));
  return name == "accuracy" || name == "iou" || name == "r2" || name == "roc_auc" || name == "average_precision" ||
         name.starts_with("top_");
}

}  // namespace isobar::train
