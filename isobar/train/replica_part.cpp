#include "isobar/train/replica_part.hpp"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/datasets/region_dataset.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::train {
namespace {

using Json = nlohmann::json;
using NamedBoxes = std::map<std::string, Box>;

constexpr std::string_view target = "y";
constexpr std::size_t longest_reason = 400;

Json written(const NamedBoxes& boxes) {
  Json object = Json::object();
  for (const auto& [name, box] : boxes) object[name] = {box.begin, box.shape.extents()};
  return object;
}

NamedBoxes read_boxes(const Json& object) {
  NamedBoxes boxes;
  for (const auto& [name, box] : object.items())
    boxes[name] = {box[0].get<std::vector<std::int64_t>>(), Shape(box[1].get<std::vector<std::int64_t>>())};
  return boxes;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The inverse of copy_box(): writes the box into an array of that shape.
void put_box(const Box& box, std::span<const float> from, const Shape& whole, std::span<float> into) {
  const IndexArray origin(box.begin.size());
  for_each_run(box.shape.extents(), box.shape.extents(), origin, whole.extents(), box.begin,
               [&](std::int64_t source, std::int64_t place, std::int64_t count) {
                 std::ranges::copy(from.subspan(source, count), into.subspan(place).begin());
               });
}

}  // namespace

ReplicaPart::ReplicaPart(const split::ModelPart& part, const graph::Graph& whole, comm::Comm* replica)
    : ranks_(replica), loss_share_(part.loss_share), text_(part.text) {
  for (const graph::GraphValue& value : whole.values())
    if (value.role == graph::GraphValue::Role::input) inputs_.push_back({value.name, sample_shape(value.shape)});
  if (const auto found = whole.outputs().find("prediction"); found != whole.outputs().end())
    prediction_ = sample_shape(whole.value(found->second).shape);
  if (ranks_) exchange_boxes({part.inputs, part.outputs});
}

ReplicaPart ReplicaPart::together(const graph::Graph& whole, comm::Comm& ranks) {
  ReplicaPart part(split::ModelPart{}, whole, nullptr);
  part.ranks_ = &ranks;
  Boxes all;
  for (const datasets::Field& input : part.inputs_) all.inputs.emplace(input.name, Box::whole(input.shape));
  part.boxes_.assign(static_cast<std::size_t>(ranks.size()), all);
  return part;
}

void ReplicaPart::exchange_boxes(const Boxes& mine) {
  const std::string text = Json::array({written(mine.inputs), written(mine.outputs)}).dump();
  for (const comm::Bytes& bytes : all_gather(*ranks_, std::as_bytes(std::span(text)))) {
    const Json both = Json::parse(text_of(bytes));
    boxes_.push_back({read_boxes(both[0]), read_boxes(both[1])});
  }
}

Box ReplicaPart::box_of(const datasets::Field& input, int rank) const {
  if (alone()) return Box::whole(input.shape);
  const NamedBoxes& theirs = boxes_[rank].inputs;
  const auto found = theirs.find(input.name);
  return found == theirs.end() ? Box::whole(input.shape) : found->second;
}

datasets::Region ReplicaPart::region(const std::vector<datasets::Field>& fields, bool whole_targets) const {
  datasets::Region region;
  for (const datasets::Field& field : fields) {
    const bool all = alone() || (whole_targets && is_first() && field.name == target);
    region.push_back(all ? Box::whole(field.shape) : box_of(field, ranks_->rank()));
  }
  return region;
}

std::shared_ptr<const datasets::Dataset> ReplicaPart::seen(std::shared_ptr<const datasets::Dataset> whole,
                                                           bool whole_targets) const {
  if (alone()) return whole;
  return region_of(whole, region(whole->fields(), whole_targets));
}

std::function<void(std::span<std::string> bad)> ReplicaPart::agreement(const WaitLimits& limits) const {
  if (alone()) return {};
  return [this, limits](std::span<std::string> bad) { agree_on_bad(bad, limits); };
}

// Reasons are sent only where there are any.
void ReplicaPart::agree_on_bad(std::span<std::string> bad, const WaitLimits& limits) const {
  std::vector<std::int64_t> found(bad.size());
  std::ranges::transform(bad, found.begin(), [](const std::string& reason) { return !reason.empty(); });
  sum_over_ranks(*ranks_, found, until_stalled(*ranks_, limits, "the samples of a batch that can be read"));
  if (std::ranges::count(found, 0) == std::ssize(found)) return;
  std::string mine;
  for (const std::string& reason : bad) mine += one_line(reason, longest_reason) + "\n";
  for (std::string& reason : bad) reason.clear();
  for (const comm::Bytes& bytes : all_gather(*ranks_, std::as_bytes(std::span(mine)))) {
    std::string_view rest = text_of(bytes);
    for (std::string& reason : bad) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      if (reason.empty()) reason = line;
    }
  }
}

std::span<const float> ReplicaPart::whole_predictions(std::span<const float> mine, std::int64_t rows) const {
  if (alone()) return mine;
  if (!boxes_[0].outputs.contains("prediction")) return is_first() ? mine : std::span<const float>();
  const std::size_t whole = prediction_.count();
  if (is_first()) predictions_.resize(rows * whole);
  gather(*ranks_, std::as_bytes(mine), [&](int rank, std::span<const std::byte> theirs) {
    const Box& box = boxes_[rank].outputs.at("prediction");
    const std::span<const float> part(reinterpret_cast<const float*>(theirs.data()), theirs.size() / sizeof(float));
    const std::size_t width = box.count();
    for (std::int64_t row = 0; row < rows; ++row)
      put_box(box, part.subspan(row * width, width), prediction_, std::span(predictions_).subspan(row * whole, whole));
  });
  return is_first() ? std::span<const float>(predictions_) : std::span<const float>();
}

void ReplicaPart::each_prediction(std::span<const float> mine,
                                  const std::function<void(std::span<const float>)>& take) const {
  gather(*ranks_, std::as_bytes(mine), [&](int, std::span<const std::byte> theirs) {
    take({reinterpret_cast<const float*>(theirs.data()), theirs.size() / sizeof(float)});
  });
}

double ReplicaPart::sum(double mine) const {
  if (alone()) return mine;
  double sum = 0;
  for (const comm::Bytes& bytes : all_gather(*ranks_, std::as_bytes(std::span(&mine, 1)))) {
    double number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    sum += number;
  }
  return sum;
}

}  // namespace isobar::train
