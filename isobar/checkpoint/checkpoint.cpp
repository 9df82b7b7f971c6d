#include "isobar/checkpoint/checkpoint.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/disk/durable_file.hpp"
#include "isobar/files/crc32c.hpp"
#include "isobar/hdf5/hdf5_outline.hpp"

namespace isobar::checkpoint {
namespace {

using files::NumberType;

constexpr const char* recipe_name = "recipe";
constexpr const char* metrics_name = "metrics";
constexpr const char* kept_name = "kept_numbers";
constexpr const char* statistics_name = "ranks/statistics";
constexpr const char* own_name = "ranks/numbers";
constexpr std::string_view own_array_group = "ranks/arrays/", own_kept_group = "ranks/kept/";
constexpr std::string_view list_group = "droppable/", piece_group = "pieces/";

template <class T>
std::span<const std::uint8_t> bytes_of(std::span<const T> numbers) {
  return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()};
}

template <class T>
std::span<std::uint8_t> room_in(std::span<T> numbers) {
  return {reinterpret_cast<std::uint8_t*>(numbers.data()), numbers.size_bytes()};
}

// A snapshot as the contents of a file: arrays, and where their bytes are in memory.
struct Contents {
  explicit Contents(const Snapshot& snapshot) {
    for (const Snapshot::Part& part : snapshot.parts)
      if (part.count > 0) add(part.name, part.shape, NumberType::float32, bytes_of(snapshot.values(part)));
    add(kept_name, Shape{std::ssize(snapshot.kept_numbers)}, NumberType::float64, of(snapshot.kept_numbers));
    add(statistics_name, by_rank(snapshot, snapshot.statistics.size()), NumberType::float32, of(snapshot.statistics));
    add(own_name, by_rank(snapshot, snapshot.own_numbers.size()), NumberType::float64, of(snapshot.own_numbers));
    expects(snapshot.pieces.empty(), "pieces as the whole that they make");
    for (const Snapshot::List& list : snapshot.lists)
      add(std::string(list_group) + list.name, Shape{std::ssize(list.numbers)}, NumberType::float64, of(list.numbers));
    for (const Snapshot::OwnArray& array : snapshot.own_arrays)
      add(std::string(array.may_drop ? own_array_group : own_kept_group) + array.name,
          by_rank(snapshot, array.numbers.size()), NumberType::float32, of(array.numbers));
    for (const Snapshot::List& list : snapshot.own_lists)
      add(std::string(own_kept_group) + list.name, by_rank(snapshot, list.numbers.size()), NumberType::float64,
          of(list.numbers));
    for (const auto& [name, text] : {std::pair(recipe_name, &snapshot.recipe), {metrics_name, &snapshot.metrics}}) {
      add(name, Shape{std::ssize(*text)}, NumberType::uint8, bytes_of(std::span<const char>(*text)));
      if (!text->empty()) arrays.back().text = true;
    }
  }

  std::vector<hdf5::OutlinedArray> arrays;
  std::vector<std::span<const std::uint8_t>> bytes;

 private:
  template <class T>
  static std::span<const std::uint8_t> of(const std::vector<T>& numbers) {
    return bytes_of(std::span<const T>(numbers));
  }
  static Shape by_rank(const Snapshot& snapshot, std::size_t count) {
    return {snapshot.ranks, static_cast<std::int64_t>(count) / snapshot.ranks};
  }
  // HDF5 allocates no space for empty arrays.
  void add(const std::string& name, Shape shape, NumberType type, std::span<const std::uint8_t> content) {
    if (content.empty()) return;
    arrays.push_back({name, std::move(shape), type});
    bytes.push_back(content);
  }
};

// Older programs know only what a strategy must not drop and has once, and read all files with nothing else of it.
int format_of(const Snapshot& snapshot) {
  const bool further = std::ranges::any_of(snapshot.parts, [](const Snapshot::Part& part) {
    return part.name.starts_with(piece_group) || part.name.starts_with(list_group);
  });
  const bool old = snapshot.own_arrays.empty() && snapshot.lists.empty() && snapshot.own_lists.empty();
  return old && !further ? 2 : 3;
}

// For programs that read the file as HDF5.
std::vector<hdf5::OutlinedAttribute> attributes_of(const Snapshot& snapshot) {
  const Position& p = snapshot.position;
  return {{"format", std::int64_t{format_of(snapshot)}},
          {"step", p.step},
          {"epoch", p.epoch},
          {"step_in_epoch", p.step_in_epoch},
          {"batch", p.batch},
          {"seed", static_cast<std::int64_t>(snapshot.seed)},
          {"slots", std::int64_t{snapshot.slots}},
          {"ranks", std::int64_t{snapshot.ranks}},
          {"plan", snapshot.plan}};
}

CheckpointIndex index_of(const Snapshot& snapshot, const Contents& contents) {
  CheckpointIndex index;
  index.format = format_of(snapshot);
  index.position = snapshot.position;
  index.seed = static_cast<std::int64_t>(snapshot.seed);
  index.slots = snapshot.slots;
  index.ranks = snapshot.ranks;
  index.best = snapshot.best;
  index.plan = snapshot.plan;
  for (std::size_t i = 0; i < contents.arrays.size(); ++i) {
    const hdf5::OutlinedArray& array = contents.arrays[i];
    index.entries.push_back({array.name, array.type, array.shape, 0, array.bytes(), files::crc32c(contents.bytes[i])});
  }
  return index;
}

}  // namespace

std::uintmax_t write_checkpoint(const std::filesystem::path& file, const Snapshot& snapshot) {
  const Contents contents(snapshot);
  CheckpointIndex index = index_of(snapshot, contents);
  index.user_block = user_block_for(index);
  const hdf5::Hdf5Outline outline = hdf5::outline_hdf5(contents.arrays, attributes_of(snapshot), index.user_block);
  index.file_bytes = outline.bytes;
  for (std::size_t i = 0; i < contents.arrays.size(); ++i) index.entries[i].offset = outline.offsets[i];
  for (const auto& [offset, bytes] : outline.pieces)
    index.entries.push_back(
        {"", NumberType::uint8, Shape{std::ssize(bytes)}, offset, std::ssize(bytes), files::crc32c(bytes)});
  std::ranges::sort(index.entries, {}, &CheckpointIndex::Entry::offset);
  disk::DurableFile out(file, outline.bytes);
  out.write_at(0, bytes_of(std::span<const char>(write_index(index))));
  for (const auto& [offset, bytes] : outline.pieces) out.write_at(offset, bytes);
  for (std::size_t i = 0; i < contents.arrays.size(); ++i) out.write_at(outline.offsets[i], contents.bytes[i]);
  out.commit();
  return static_cast<std::uintmax_t>(outline.bytes);
}

CheckpointFile::CheckpointFile(const std::filesystem::path& file) : in_(file) {
  std::vector<std::uint8_t> block(
      static_cast<std::size_t>(std::min<std::int64_t>(in_.size(), std::int64_t{index_head_bytes})));
  in_.read_at(0, block);
  block.resize(static_cast<std::size_t>(index_bytes(block, in_.size(), file.string())));
  in_.read_at(0, block);
  index_ = read_index(block, in_.size(), file.string());
}

void CheckpointFile::read_entry(const CheckpointIndex::Entry& entry, std::span<std::uint8_t> into) const {
  expects(std::ssize(into) == entry.bytes, "room for an entry");
  in_.read_at(entry.offset, into);
  const std::uint32_t sum = files::crc32c(into);
  if (sum == entry.sum) return;
  fail("checkpoint '{}': {} is damaged: its checksum is {:08x} and should be {:08x}", path().string(),
       entry.name.empty() ? "HDF5's own data" : fmt::format("'{}'", entry.name), sum, entry.sum);
}

std::string CheckpointFile::text(const char* name) const {
  const CheckpointIndex::Entry* const entry = index_.find(name);
  if (!entry) return "";
  std::string text(static_cast<std::size_t>(entry->bytes), '\0');
  read_entry(*entry, room_in(std::span(text)));
  return text;
}

std::string CheckpointFile::recipe() const { return text(recipe_name); }

void CheckpointFile::verify() const {
  constexpr std::int64_t piece = std::int64_t{4} << 20;
  std::vector<std::uint8_t> some;
  for (CheckpointIndex::Entry rest : index_.entries) {
    std::uint32_t sum = 0;
    while (rest.bytes > piece) {
      some.resize(static_cast<std::size_t>(piece));
      in_.read_at(rest.offset, some);
      sum = files::crc32c(sum, some);
      rest.offset += piece, rest.bytes -= piece;
    }
    some.resize(static_cast<std::size_t>(rest.bytes));
    in_.read_at(rest.offset, some);
    if (files::crc32c(sum, some) != rest.sum)
      fail("checkpoint '{}': {} is damaged: its checksum is not {:08x}", path().string(),
           rest.name.empty() ? "HDF5's own data" : fmt::format("'{}'", rest.name), rest.sum);
  }
}

Snapshot CheckpointFile::read(bool all) const {
  Snapshot snapshot;
  snapshot.origin = fmt::format("checkpoint '{}'", path().string());
  snapshot.position = index_.position;
  snapshot.seed = static_cast<std::uint64_t>(index_.seed);
  snapshot.slots = static_cast<int>(index_.slots);
  snapshot.ranks = static_cast<int>(index_.ranks);
  snapshot.whose = Snapshot::Whose::all;
  snapshot.best = index_.best;
  snapshot.plan = index_.plan;
  snapshot.recipe = recipe();
  snapshot.metrics = text(metrics_name);
  const auto is_part = [&](const CheckpointIndex::Entry& entry) {
    return entry.type == NumberType::float32 && entry.name != statistics_name && !entry.name.starts_with("ranks/") &&
           (all || entry.name.starts_with("weights/"));
  };
  std::size_t numbers = 0;
  for (const CheckpointIndex::Entry& entry : index_.entries) {
    if (!is_part(entry)) continue;
    const auto count = static_cast<std::size_t>(entry.bytes) / sizeof(float);
    snapshot.parts.push_back({entry.name, entry.shape, numbers, count});
    numbers += count;
  }
  snapshot.numbers.resize(numbers);
  for (const Snapshot::Part& part : snapshot.parts)
    read_entry(*index_.find(part.name), room_in(std::span(snapshot.numbers).subspan(part.first, part.count)));
  if (!all) return snapshot;
  const auto read_list = [&]<class T>(const std::string& name, NumberType type, std::vector<T>& list) {
    const CheckpointIndex::Entry* const entry = index_.find(name);
    if (!entry || entry->type != type) return;
    list.resize(static_cast<std::size_t>(entry->bytes) / sizeof(T));
    read_entry(*entry, room_in(std::span(list)));
  };
  read_list(kept_name, NumberType::float64, snapshot.kept_numbers);
  read_list(statistics_name, NumberType::float32, snapshot.statistics);
  read_list(own_name, NumberType::float64, snapshot.own_numbers);
  for (const CheckpointIndex::Entry& entry : index_.entries) {
    const auto read_as = [&](std::string_view group, NumberType type, auto& blocks) {
      if (!entry.name.starts_with(group) || entry.type != type) return false;
      blocks.push_back({entry.name.substr(group.size())});
      read_list(entry.name, type, blocks.back().numbers);
      return true;
    };
    read_as(own_array_group, NumberType::float32, snapshot.own_arrays);
    if (read_as(own_kept_group, NumberType::float32, snapshot.own_arrays)) snapshot.own_arrays.back().may_drop = false;
    read_as(own_kept_group, NumberType::float64, snapshot.own_lists);
    read_as(list_group, NumberType::float64, snapshot.lists);
  }
  return snapshot;
}

Snapshot CheckpointFile::read() const { return read(true); }
Snapshot CheckpointFile::read_weights() const { return read(false); }

}  // namespace isobar::checkpoint
