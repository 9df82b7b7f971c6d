#include "isobar/datasets/dataset.hpp"

#include "isobar/base/error.hpp"

namespace isobar::datasets {

std::string Dataset::where(std::int64_t index) const { return fmt::format("sample {}", index); }

void Dataset::expects_request(std::int64_t index, std::span<const std::span<float>> out) const {
  expects(index >= 0 && index < size(), "the number of a sample");
  const std::vector<Field> wanted = fields();
  expects(out.size() == wanted.size(), "one piece of memory per field");
  for (std::size_t f = 0; f < wanted.size(); ++f)
    expects(std::ssize(out[f]) == wanted[f].shape.count(), "memory of the field's size");
}

}  // namespace isobar::datasets
