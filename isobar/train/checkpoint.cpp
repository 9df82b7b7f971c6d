#include "isobar/train/checkpoint.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/hdf5_file.hpp"

namespace isobar::train {
namespace {

constexpr std::int64_t format_version = 1;

std::string slot_group(int s) { return fmt::format("slots/{}", s); }

// The part of a parameter in numbers that are laid out as all gradients.
std::span<float> part(const exec::ParamStore& store, std::span<float> all, int p) {
  return all.subspan(store.offset(p), store.gradient(p).size());
}

// What was left under way by one strategy cannot be finished by another.
void expect_same_kept(const std::filesystem::path& file, const files::Hdf5File& in, const Kept& kept) {
  std::vector<std::string> names;
  for (const auto& [name, _] : kept.blocks) names.push_back(name);
  std::vector<std::string> held = in.children("kept");
  std::ranges::sort(names);
  std::ranges::sort(held);
  if (names != held || in.shape("kept_numbers").count() != std::ssize(kept.numbers))
    fail(
        "checkpoint '{}': its strategy had steps under way, {}, which the recipe's strategy does not know; resume with "
        "the strategy it was made with",
        file.string(), join(held, ", "));
}

files::Hdf5File open_checkpoint(const std::filesystem::path& file) {
  files::Hdf5File in = files::Hdf5File::open(file);
  if (!in.has_attribute("/", "format") || in.integer("/", "format") != format_version)
    fail("checkpoint '{}': not a checkpoint of format {}", file.string(), format_version);
  return in;
}

Position position_in(const files::Hdf5File& in) {
  const auto or_zero = [&](const char* name) { return in.has_attribute("/", name) ? in.integer("/", name) : 0; };
  return {.step = in.integer("/", "step"),
          .epoch = in.integer("/", "epoch"),
          .step_in_epoch = in.integer("/", "step_in_epoch"),
          .loss_sum = in.real("/", "loss_sum"),
          .loss_samples = in.integer("/", "loss_samples"),
          .skipped = or_zero("skipped"),
          .batch = or_zero("batch"),
          .rows = or_zero("rows"),
          .rate_scale = in.has_attribute("/", "rate_scale") ? in.real("/", "rate_scale") : 1,
          .bad_steps = or_zero("bad_steps"),
          .rewinds = or_zero("rewinds"),
          .bad_in_a_row = or_zero("bad_in_a_row"),
          .undone = or_zero("undone")};
}

// Numbers of a checkpoint, in plain layout there, into the store.
class PlainReader {
 public:
  PlainReader(const std::filesystem::path& file, const files::Hdf5File& in, const exec::ParamStore& store)
      : file_(file), in_(in), store_(store) {}

  void read(const std::string& group, int p, std::span<float> stored) {
    const std::string name = group + "/" + store_.parameter(p).name;
    const Shape& shape = store_.parameter(p).declared.shape;
    if (!in_.exists(name)) fail("checkpoint '{}': has no '{}'", file_.string(), name);
    if (in_.shape(name) != shape)
      fail("checkpoint '{}': '{}' is {}, the network expects {}", file_.string(), name, in_.shape(name).str(),
           shape.str());
    plain_values_.resize(static_cast<std::size_t>(shape.count()));
    in_.read<float>(name, plain_values_);
    store_.write_plain(p, plain_values_, stored);
  }

  void read_weights() {
    const auto in_file = in_.children("weights").size();
    if (in_file != static_cast<std::size_t>(store_.count()))
      fail("checkpoint '{}': holds {} weights, the network has {}", file_.string(), in_file, store_.count());
    for (int p = 0; p < store_.count(); ++p) read("weights", p, store_.weight(p));
  }

 private:
  const std::filesystem::path& file_;
  const files::Hdf5File& in_;
  const exec::ParamStore& store_;
  std::vector<float> plain_values_;
};

}  // namespace

std::uintmax_t write_checkpoint(const std::filesystem::path& file, const exec::ParamStore& store,
                                const Position& position, const std::string& recipe, const Kept& kept) {
  files::Hdf5File out = files::Hdf5File::create(file);
  std::vector<float> plain_values;
  const auto write = [&](const std::string& group, int p, std::span<const float> stored) {
    const Shape& shape = store.parameter(p).declared.shape;
    plain_values.resize(static_cast<std::size_t>(shape.count()));
    store.read_plain(p, stored, plain_values);
    out.write<float>(group + "/" + store.parameter(p).name, shape, plain_values);
  };
  for (int p = 0; p < store.count(); ++p) {
    write("weights", p, store.weight(p));
    for (int s = 0; s < store.slot_count(); ++s) write(slot_group(s), p, store.slot(p, s));
  }
  if (!kept.empty()) {
    for (const auto& [name, numbers] : kept.blocks)
      for (int p = 0; p < store.count(); ++p) write("kept/" + name, p, part(store, numbers, p));
    out.write<double>("kept_numbers", Shape{std::ssize(kept.numbers)}, kept.numbers);
  }
  out.set_integer("/", "format", format_version);
  out.set_integer("/", "slots", store.slot_count());
  out.set_integer("/", "step", position.step);
  out.set_integer("/", "epoch", position.epoch);
  out.set_integer("/", "step_in_epoch", position.step_in_epoch);
  out.set_real("/", "loss_sum", position.loss_sum);
  out.set_integer("/", "loss_samples", position.loss_samples);
  out.set_integer("/", "skipped", position.skipped);
  out.set_integer("/", "batch", position.batch);
  out.set_integer("/", "rows", position.rows);
  out.set_real("/", "rate_scale", position.rate_scale);
  out.set_integer("/", "bad_steps", position.bad_steps);
  out.set_integer("/", "rewinds", position.rewinds);
  out.set_integer("/", "bad_in_a_row", position.bad_in_a_row);
  out.set_integer("/", "undone", position.undone);
  out.set_text("/", "recipe", recipe);
  out.commit();
  return std::filesystem::file_size(file);
}

Position read_checkpoint(const std::filesystem::path& file, exec::ParamStore& store, const Kept& kept) {
  const files::Hdf5File in = open_checkpoint(file);
  if (in.integer("/", "slots") != store.slot_count())
    fail("checkpoint '{}': its optimizer keeps {} numbers per weight, the recipe's keeps {}", file.string(),
         in.integer("/", "slots"), store.slot_count());
  PlainReader reader(file, in, store);
  reader.read_weights();
  for (int p = 0; p < store.count(); ++p)
    for (int s = 0; s < store.slot_count(); ++s) reader.read(slot_group(s), p, store.slot(p, s));
  if (in.exists("kept")) {
    expect_same_kept(file, in, kept);
    for (const auto& [name, numbers] : kept.blocks)
      for (int p = 0; p < store.count(); ++p) reader.read("kept/" + name, p, part(store, numbers, p));
    in.read<double>("kept_numbers", kept.numbers);
  }
  return position_in(in);
}

CheckpointHead read_checkpoint_head(const std::filesystem::path& file) {
  const files::Hdf5File in = open_checkpoint(file);
  return {position_in(in), in.text("/", "recipe")};
}

Position read_checkpoint_weights(const std::filesystem::path& file, exec::ParamStore& store) {
  const files::Hdf5File in = open_checkpoint(file);
  PlainReader(file, in, store).read_weights();
  return position_in(in);
}

}  // namespace isobar::train
