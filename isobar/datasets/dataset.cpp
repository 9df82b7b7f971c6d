#include "isobar/datasets/dataset.hpp"

#include <algorithm>
#include <utility>

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

void Dataset::expects_request(std::int64_t index, std::span<const Box> region,
                              std::span<const std::span<float>> out) const {
  expects(index >= 0 && index < size(), "the number of a sample");
  const std::vector<Field> known = fields();
  expects(region.size() == known.size() && out.size() == known.size(), "a box and a piece of memory per field");
  for (std::size_t f = 0; f < known.size(); ++f) {
    expects(region[f].is_inside(known[f].shape), "a box in the field");
    expects(std::ssize(out[f]) == region[f].count(), "memory of the box's size");
  }
}

void Dataset::read_region(const Reading& reading, std::int64_t index, std::span<const Box> region,
                          std::span<const std::span<float>> out) const {
  expects_request(index, region, out);
  if (std::ranges::all_of(region, [](const Box& box) { return box.count() == 0; })) return;
  // Taken while reading: the data set may itself read another one so.
  thread_local std::vector<std::vector<float>> kept;
  std::vector<std::vector<float>> memory = std::exchange(kept, {});
  const std::vector<Field> known = fields();
  memory.resize(std::max(memory.size(), known.size()));
  std::vector<std::span<float>> whole;
  for (std::size_t f = 0; f < known.size(); ++f) {
    const std::size_t count = known[f].shape.count();
    if (region[f].is_whole(known[f].shape)) {
      whole.push_back(out[f]);
      continue;
    }
    if (memory[f].size() < count) memory[f].resize(count);
    whole.push_back(std::span(memory[f]).first(count));
  }
  read_varied(reading, index, whole);
  for (std::size_t f = 0; f < known.size(); ++f)
    if (whole[f].data() != out[f].data()) copy_box(Box::whole(known[f].shape), whole[f], region[f], out[f]);
  kept = std::move(memory);
}

Region whole_region(const std::vector<Field>& fields) {
  Region region;
  for (const Field& field : fields) region.push_back(Box::whole(field.shape));
  return region;
}

}  // namespace isobar::datasets
