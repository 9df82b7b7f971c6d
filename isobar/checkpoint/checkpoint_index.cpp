#include "isobar/checkpoint/checkpoint_index.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <set>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/crc32c.hpp"

namespace isobar::checkpoint {
namespace {

constexpr std::string_view magic = "isobar checkpoint ", after_format = ", index of ", middle = " bytes, crc32c ";
constexpr std::size_t bytes_at = magic.size() + 1 + after_format.size(), digits = 10, sum_digits = 8;
constexpr std::size_t sum_at = bytes_at + digits + middle.size();
static_assert(sum_at + sum_digits + 1 == index_head_bytes);

constexpr std::int64_t smallest_block = 512, largest_block = std::int64_t{64} << 20;
constexpr std::size_t most_axes = 12;  // the limit of the library that computes
constexpr std::string_view scalar = "scalar", what_hdf5_needs = "hdf5";

// Every field with its name, for writing and for reading.
template <class Index, class Visit>
void for_each_field(Index& index, Visit visit) {
  auto& p = index.position;
  visit("step", p.step), visit("epoch", p.epoch), visit("step_in_epoch", p.step_in_epoch);
  visit("loss_sum", p.loss_sum), visit("loss_samples", p.loss_samples), visit("skipped", p.skipped);
  visit("batch", p.batch), visit("rows", p.rows);
  visit("rate_scale", p.rate_scale), visit("bad_steps", p.bad_steps), visit("rewinds", p.rewinds);
  visit("bad_in_a_row", p.bad_in_a_row), visit("undone", p.undone);
  visit("seed", index.seed), visit("slots", index.slots), visit("ranks", index.ranks), visit("best", index.best);
  visit("plan", index.plan), visit("file_bytes", index.file_bytes);
}

std::string entry_line(const CheckpointIndex::Entry& entry) {
  const std::string shape = entry.shape.rank() == 0 ? std::string(scalar) : entry.shape.str();
  const std::string_view type = entry.name.empty() ? what_hdf5_needs : files::name_of(entry.type);
  return fmt::format("{} {} {} {} {:08x} {}\n", type, shape, entry.offset, entry.bytes, entry.sum, entry.name);
}

std::string index_text(const CheckpointIndex& index) {
  std::string text(index_head_bytes, ' ');
  text[magic.size()] = static_cast<char>('0' + index.format);
  for_each_field(index, [&](const char* name, const auto& value) { text += fmt::format("{} {}\n", name, value); });
  text += "\n";
  for (const CheckpointIndex::Entry& entry : index.entries) text += entry_line(entry);
  return text + "\n";
}

std::string head_line(char format, std::int64_t bytes, std::uint32_t sum) {
  return fmt::format("{}{}{}{:0{}}{}{:0{}x}\n", magic, format, after_format, bytes, digits, middle, sum, sum_digits);
}

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
bool parse(std::string_view word, T& value, int base = 10) {
  const char* const end = word.data() + word.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<T>) result = std::from_chars(word.data(), end, value);
  else result = std::from_chars(word.data(), end, value, base);
  return result.ec == std::errc() && result.ptr == end && !word.empty();
}

// The checksum is computed with zeros in its place.
std::uint32_t sum_of(std::span<const std::uint8_t> block) {
  static constexpr std::uint8_t zeros[sum_digits] = {'0', '0', '0', '0', '0', '0', '0', '0'};
  const std::uint32_t before = files::crc32c(files::crc32c(block.first(sum_at)), zeros);
  return files::crc32c(before, block.subspan(sum_at + sum_digits));
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) refuse("it ends in mid-line");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  // The part of a line before the next blank.
  std::string_view word(std::string_view& line) const {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
  }

  template <class T>
  T number(std::string_view text, std::string_view what, int base = 10) const {
    T value{};
    if (!parse(text, value, base)) refuse(fmt::format("'{}' is no {}", one_line(text, 40), what));
    return value;
  }

  std::string_view rest() const { return rest_; }

  [[noreturn]] void refuse(const std::string& why) const {
    fail("checkpoint '{}': its index is not sound: {}", file_, why);
  }

 private:
  std::string_view rest_;
  const std::string& file_;
};

Shape read_shape(const Reader& reader, std::string_view text) {
  std::vector<std::int64_t> extents;
  while (text != scalar && !text.empty()) {
    const std::size_t end = std::min(text.find('x'), text.size());
    extents.push_back(reader.number<std::int64_t>(text.substr(0, end), "extent"));
    if (extents.back() < 1 || extents.size() > most_axes) reader.refuse("an array has no such shape");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Shape(std::move(extents));
}

// Bytes of an array; -1 if larger than any file.
std::int64_t bytes_of(const Shape& shape, files::NumberType type) {
  auto bytes = static_cast<std::int64_t>(files::width_of(type));
  for (const std::int64_t extent : shape.extents())
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  return bytes;
}

CheckpointIndex::Entry read_entry(const Reader& reader, std::string_view line) {
  CheckpointIndex::Entry entry;
  const std::string_view type = reader.word(line);
  if (type == "float32") entry.type = files::NumberType::float32;
  else if (type == "float64") entry.type = files::NumberType::float64;
  else if (type != "uint8" && type != what_hdf5_needs)
    reader.refuse(fmt::format("'{}' is not a number type", one_line(type, 40)));
  entry.shape = read_shape(reader, reader.word(line));
  entry.offset = reader.number<std::int64_t>(reader.word(line), "offset");
  entry.bytes = reader.number<std::int64_t>(reader.word(line), "number of bytes");
  entry.sum = reader.number<std::uint32_t>(reader.word(line), "checksum", 16);
  entry.name = line;
  if (entry.name.empty() != (type == what_hdf5_needs)) reader.refuse("an array has no name");
  if (entry.bytes != bytes_of(entry.shape, entry.type))
    reader.refuse(fmt::format("'{}' does not have the bytes of its shape", one_line(entry.name, 80)));
  return entry;
}

void read_fields(Reader& reader, CheckpointIndex& index) {
  for_each_field(index, [&](const std::string& name, auto& value) {
    std::string_view line = reader.line();
    if (reader.word(line) != name) reader.refuse(fmt::format("it has no '{}' where it must be", name));
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) value = line;
    else value = reader.number<std::decay_t<decltype(value)>>(line, name);
  });
  const Position& p = index.position;
  for (const std::int64_t count : {p.step, p.epoch, p.step_in_epoch, p.loss_samples, p.skipped, p.batch, p.rows,
                                   p.bad_steps, p.rewinds, p.bad_in_a_row, p.undone, index.slots})
    if (count < 0) reader.refuse("a count is below 0");
  constexpr int most = std::numeric_limits<int>::max();
  if (index.slots > 64 || index.ranks < 1 || index.ranks > most) reader.refuse("a count is too large");
  if (!reader.line().empty()) reader.refuse("it has fields that are not known");
}

}  // namespace

const CheckpointIndex::Entry* CheckpointIndex::find(std::string_view name) const {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

std::int64_t user_block_for(const CheckpointIndex& index) {
  // Numbers can become longer by this much; between any two arrays there may be structures of HDF5.
  constexpr std::size_t longest = 2 * 20, further = 64;
  const std::size_t most = index_text(index).size() + (index.entries.size() + 1) * (longest + further) + longest;
  return std::max(smallest_block, static_cast<std::int64_t>(std::bit_ceil(most)));
}

std::string write_index(const CheckpointIndex& index) {
  for (const CheckpointIndex::Entry& entry : index.entries)
    if (entry.name.find('\n') != std::string::npos)
      fail("'{}' cannot be kept in a checkpoint: its name has more than one line", one_line(entry.name));
  std::string block = index_text(index);
  expects(std::ssize(block) <= index.user_block && index.user_block <= largest_block, "an index that fits its block");
  block.resize(static_cast<std::size_t>(index.user_block), '\n');
  return seal_index(std::move(block));
}

std::string seal_index(std::string block) {
  expects(block.size() >= index_head_bytes, "room for the first line");
  const char format = block[magic.size()];
  block.replace(0, index_head_bytes, head_line(format, std::ssize(block), 0));
  const std::uint32_t sum = sum_of({reinterpret_cast<const std::uint8_t*>(block.data()), block.size()});
  return block.replace(0, index_head_bytes, head_line(format, std::ssize(block), sum));
}

std::int64_t index_bytes(std::span<const std::uint8_t> head, std::int64_t file_bytes, const std::string& file) {
  const std::string_view text = text_of(head);
  if (text.size() < index_head_bytes || !text.starts_with(magic) ||
      (text[magic.size()] != '2' && text[magic.size()] != '3') ||
      text.substr(bytes_at + digits, middle.size()) != middle)
    fail("'{}' is not a checkpoint of format 2 or 3", file);
  std::int64_t bytes = 0;
  if (!parse(text.substr(bytes_at, digits), bytes) || bytes < smallest_block || bytes > largest_block ||
      !std::has_single_bit(static_cast<std::uint64_t>(bytes)))
    fail("checkpoint '{}': its index cannot have '{}' bytes", file, one_line(text.substr(bytes_at, digits)));
  if (bytes > file_bytes)
    fail("checkpoint '{}': has {} bytes, its index alone should have {}: it is not complete", file, file_bytes, bytes);
  return bytes;
}

CheckpointIndex read_index(std::span<const std::uint8_t> user_block, std::int64_t file_bytes, const std::string& file) {
  CheckpointIndex index;
  index.user_block = index_bytes(user_block, file_bytes, file);
  index.format = static_cast<char>(user_block[magic.size()]) - '0';
  expects(std::ssize(user_block) == index.user_block, "the whole user block");
  const std::uint32_t sum = sum_of(user_block);
  if (text_of(user_block).substr(0, index_head_bytes) !=
      head_line(text_of(user_block)[magic.size()], index.user_block, sum))
    fail("checkpoint '{}': its index is damaged: its checksum is not {:08x}", file, sum);
  Reader reader(text_of(user_block).substr(index_head_bytes), file);
  read_fields(reader, index);
  if (index.file_bytes != file_bytes)
    fail("checkpoint '{}': has {} bytes instead of {}: it is not complete", file, file_bytes, index.file_bytes);
  std::set<std::string_view> names;
  std::int64_t at = index.user_block;
  for (std::string_view line = reader.line(); !line.empty(); line = reader.line()) {
    index.entries.push_back(read_entry(reader, line));
    const CheckpointIndex::Entry& entry = index.entries.back();
    // Entries do not overlap, so together they take no more memory than the file.
    if (entry.offset != at || entry.bytes > file_bytes - at)
      reader.refuse("arrays do not follow each other in the file");
    at += entry.bytes;
  }
  if (at != file_bytes) reader.refuse("it does not know all bytes of the file");
  for (const CheckpointIndex::Entry& entry : index.entries)
    if (!entry.name.empty() && !names.insert(entry.name).second)
      reader.refuse(fmt::format("'{}' is there twice", one_line(entry.name, 80)));
  return index;
}

}  // namespace isobar::checkpoint
