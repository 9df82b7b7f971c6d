#include "isobar/files/npy_file.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::files {
namespace {

constexpr std::size_t most_header = 1 << 16;
constexpr int most_npy_axes = 32;
constexpr std::int64_t most_numbers = std::int64_t{1} << 48;

std::int64_t checked_npy_count(const Shape& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t n : shape.extents()) {
    empty = empty || n == 0;
    if (n > 0 && count > most_numbers / n) fail("the shape {} is beyond any file", shape.str());
    count *= std::max<std::int64_t>(n, 1);
  }
  return empty ? 0 : count;
}

NumberType type_of(std::string_view text, std::endian& order) {
  const std::string shown = one_line(text, 40);
  if (text.size() < 2) fail("the type '{}' is none of NumPy", shown);
  const char mark = text[0];
  if (mark == '<' || mark == '>' || mark == '|' || mark == '=') text.remove_prefix(1);
  order = mark == '>' ? std::endian::big : mark == '=' ? std::endian::native : std::endian::little;
  switch (text[0]) {
    case 'c': fail("holds complex numbers (type '{}'); store real and imaginary parts as two channels", shown);
    case 'S':
    case 'a':
    case 'U': fail("holds texts (type '{}'), no numbers", shown);
    case 'O': fail("holds Python objects (type '{}'), which only Python can read", shown);
    case 'M':
    case 'm': fail("holds dates (type '{}'), no numbers", shown);
    case 'V': fail("holds bytes without a type ('{}')", shown);
    default: break;
  }
  constexpr std::pair<std::string_view, NumberType> types[] = {
      {"b1", NumberType::bool8},   {"i1", NumberType::int8},    {"u1", NumberType::uint8},
      {"i2", NumberType::int16},   {"u2", NumberType::uint16},  {"i4", NumberType::int32},
      {"u4", NumberType::uint32},  {"i8", NumberType::int64},   {"u8", NumberType::uint64},
      {"f2", NumberType::float16}, {"f4", NumberType::float32}, {"f8", NumberType::float64}};
  for (const auto& [name, type] : types)
    if (text == name) return type;
  fail("the type '{}' is not known; known: b1, i1 to i8, u1 to u8, f2, f4, f8", shown);
}

// Parses the text of a Python dictionary, in the few forms that can occur.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  void parse(NpyHeader& header) {
    bool has_type = false, has_order = false, has_shape = false;
    need('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      need(':');
      if (key == "descr" && !has_type) {
        if (take('[')) fail("holds structures of several numbers; store each field as an array of its own");
        header.type = type_of(quoted(), header.order);
        has_type = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran = truth();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = extents();
        has_shape = true;
      } else {
        fail("the header has an unexpected '{}'", one_line(key, 40));
      }
      if (!take(',')) {
        need('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty() || !has_type || !has_order || !has_shape) fail("the header does not describe an array");
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void need(char c) {
    if (!take(c)) fail("the header does not describe an array: '{}' is missing", c);
  }

  std::string_view quoted() {
    skip_space();
    const char mark = rest_.empty() ? '\0' : rest_[0];
    if (mark != '\'' && mark != '"') fail("the header does not describe an array: a text is missing");
    const std::size_t end = rest_.find(mark, 1);
    if (end == std::string_view::npos) fail("the header does not describe an array: a text has no end");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool truth() {
    skip_space();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    fail("the header does not describe an array: fortran_order is neither True nor False");
  }

  Shape extents() {
    std::vector<std::int64_t> list;
    need('(');
    while (!take(')')) {
      skip_space();
      std::int64_t n = 0;
      std::size_t digits = 0;
      for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
        n = 10 * n + (rest_[digits] - '0');
        if (n > most_numbers) fail("an axis has {} or more entries; at most {} are read", n, most_numbers);
      }
      if (digits == 0) fail("the shape is not a list of numbers from 0 up: '{}'", one_line(rest_, 20));
      rest_.remove_prefix(digits);
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // as Python 2 wrote it
      list.push_back(n);
      if (std::ssize(list) > most_npy_axes) fail("the shape has more than {} axes", most_npy_axes);
      if (!take(',')) {
        need(')');
        break;
      }
    }
    return Shape(std::move(list));
  }

  std::string_view rest_;
};

// Converts numbers from Fortran order (first axis fastest) to C order (last axis fastest).
Bytes in_c_order(const Bytes& from, const Shape& shape, std::size_t width) {
  Bytes to(from.size());
  std::vector<std::int64_t> index(shape.rank(), 0);
  std::vector<std::size_t> stride;  // of each axis, in the result
  for (int axis = 0; axis < shape.rank(); ++axis) stride.push_back(shape.count(axis + 1, shape.rank()) * width);
  std::size_t place = 0;
  for (std::size_t at = 0; at < from.size(); at += width) {
    std::memcpy(to.data() + place, from.data() + at, width);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      place += stride[axis];
      if (++index[axis] < shape[axis]) break;
      place -= stride[axis] * static_cast<std::size_t>(index[axis]);
      index[axis] = 0;
    }
  }
  return to;
}

bool is_compressed(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".gz" || extension == ".xz" || extension == ".bz2" || extension == ".zst";
}

}  // namespace

NpyHeader read_npy_header(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (bytes.size() < 10 || !std::equal(std::begin(magic), std::end(magic), bytes.begin())) fail("is not a .npy file");
  const int version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] != 0)
    fail("is of version {}.{} of the .npy format; known: 1.0, 2.0, 3.0", version, bytes[7]);
  const std::size_t length_bytes = version == 1 ? 2 : 4, front = 8 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && 8 + i < bytes.size(); ++i)
    length |= static_cast<std::size_t>(bytes[8 + i]) << 8 * i;
  if (length > most_header) fail("has a header of {} bytes; at most {} are read", length, most_header);
  if (bytes.size() < front + length) fail("ends inside its header");
  NpyHeader header;
  header.data = front + length;
  HeaderText({reinterpret_cast<const char*>(bytes.data()) + front, length}).parse(header);
  checked_npy_count(header.shape);
  return header;
}

void NpyFile::begin(std::span<const std::uint8_t> head, std::int64_t file_bytes) {
  header_ = read_npy_header(head);
  const std::int64_t wanted = checked_npy_count(header_.shape) * width_of(header_.type);
  const std::int64_t found = file_bytes - header_.data;
  if (wanted != found)
    fail("the header says [{}] of {}, {} bytes, but {} bytes follow it", fmt::join(header_.shape.extents(), ", "),
         name_of(header_.type), wanted, found);
}

NpyFile::NpyFile(const std::filesystem::path& path, std::int64_t max_bytes) : name_(path.string()) {
  try {
    if (is_compressed(path)) {
      hold(read_content(path, max_bytes), max_bytes);
      return;
    }
    file_.emplace(path);
    constexpr std::int64_t first = 1024;  // nearly all headers have 128 bytes
    Bytes head(std::min(file_->size(), first));
    file_->read_at(0, head);
    const std::int64_t most = most_header + 12;
    if (head.size() >= 10 && (head[9] >= 2 || head[6] > 1) && file_->size() > first) {
      head.resize(std::min(file_->size(), most));
      file_->read_at(0, head);
    }
    begin(head, file_->size());
    if (!header_.fortran || header_.shape.rank() < 2) return;
    if (header_.bytes() > max_bytes)
      fail("lies in Fortran order and would take {} of memory; max_gigabytes raises the limit",
           human_bytes(header_.bytes()));
    Bytes numbers(header_.bytes());
    file_->read_at(header_.data, numbers);
    held_ = in_c_order(numbers, header_.shape, width_of(header_.type));
    file_.reset();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (message.starts_with(name_)) throw;
    fail("{}: {}", name_, message);
  }
}

NpyFile::NpyFile(std::string name, Bytes content, std::int64_t max_bytes) : name_(std::move(name)) {
  try {
    hold(std::move(content), max_bytes);
  } catch (const Error& error) {
    fail("{}: {}", name_, error.what());
  }
}

void NpyFile::hold(Bytes content, std::int64_t max_bytes) {
  if (std::ssize(content) > max_bytes)
    fail("would take {} of memory; max_gigabytes raises the limit", human_bytes(content.size()));
  begin(content, std::ssize(content));
  content.erase(content.begin(), content.begin() + header_.data);
  held_ = header_.fortran ? in_c_order(content, header_.shape, width_of(header_.type)) : std::move(content);
}

void NpyFile::read(std::int64_t first, std::span<float> out) const {
  const auto count = std::ssize(out);
  expects(first >= 0 && first <= header_.shape.count() - count, "numbers of the array");
  const std::size_t width = width_of(header_.type), bytes = out.size() * width;
  if (!file_) {
    const std::span<const std::uint8_t> from(held_.data() + first * width, bytes);
    return to_floats(header_.type, from, header_.order, out);
  }
  const std::int64_t at = header_.data + first * static_cast<std::int64_t>(width);
  if (header_.type == NumberType::float32 && header_.order == std::endian::native)  // read in place
    return file_->read_at(at, {reinterpret_cast<std::uint8_t*>(out.data()), bytes});
  constexpr std::size_t piece = 1 << 16;  // numbers
  thread_local Bytes memory;
  memory.resize(std::min(out.size(), piece) * width);
  for (std::size_t done = 0; done < out.size(); done += piece) {
    const std::size_t now = std::min(piece, out.size() - done);
    const std::span<std::uint8_t> part(memory.data(), now * width);
    file_->read_at(at + done * width, part);
    to_floats(header_.type, part, header_.order, out.subspan(done, now));
  }
}

Bytes npy_header(NumberType type, const Shape& shape) {
  constexpr std::string_view codes[] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4",
                                        "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"};
  std::string extents;
  for (const std::int64_t n : shape.extents()) extents += fmt::format("{}, ", n);
  if (shape.rank() > 1) extents.resize(extents.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 codes[static_cast<std::size_t>(type)], extents);
  constexpr std::size_t front = 10, alignment = 64;
  text.append((alignment - (front + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  expects(text.size() < most_header, "a shape of a few axes");
  std::string all = "\x93NUMPY";
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, text.size() & 0xFFu, text.size() >> 8})
    all += static_cast<char>(byte);
  all += text;
  return {all.begin(), all.end()};
}

}  // namespace isobar::files
