#include "isobar/files/tf_example.hpp"

#include <bit>
#include <cstring>

#include "isobar/base/error.hpp"

namespace isobar::files {
namespace {

using ExampleBytes = std::span<const std::uint8_t>;

// Calls visit(kind, list) for a Feature; if there are several lists, the last counts.
template <class F>
void visit_feature(ExampleBytes message, F visit) {
  WireReader reader(message);
  WireField field, last;
  while (reader.next(field))
    if (field.kind == WireField::Kind::bytes && field.number >= 1 && field.number <= 3) last = field;
  if (last.number != 0) visit(static_cast<Feature::Kind>(last.number), last.bytes);
}

// Calls visit(kind, list) for a Feature or for every step of a feature list.
template <class F>
void visit_lists(const Feature& feature, F visit) {
  if (feature.steps == 0) return visit_feature(feature.message, visit);
  WireReader steps(feature.message);
  WireField step;
  while (steps.next(step))
    if (step.number == 1 && step.kind == WireField::Kind::bytes) visit_feature(step.bytes, visit);
}

// Calls value(...) for every value of a list: bytes, or a float.
template <class F>
void visit_bytes(ExampleBytes list, F value) {
  WireReader reader(list);
  WireField field;
  while (reader.next(field))
    if (field.number == 1 && field.kind == WireField::Kind::bytes) value(field.bytes);
}

std::int64_t count_numbers(Feature::Kind kind, ExampleBytes list) {
  std::int64_t count = 0;
  WireReader reader(list);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1) continue;
    if (field.kind != WireField::Kind::bytes) {
      ++count;
    } else if (kind == Feature::Kind::floats) {
      if (field.bytes.size() % 4 != 0)
        fail("the message is damaged: a list of floats has {} bytes", field.bytes.size());
      count += field.bytes.size() / 4;
    } else {
      for (const std::uint8_t byte : field.bytes) count += byte < 0x80u;
    }
  }
  return count;
}

// Writes the values of a list into `out`, which must have room for them, and returns the rest of `out`.
std::span<float> copy_numbers(Feature::Kind kind, ExampleBytes list, std::span<float> out) {
  const auto put = [&out](float value) {
    if (out.empty()) fail("the message is damaged: a list is longer than it seemed");
    out[0] = value;
    out = out.subspan(1);
  };
  WireReader reader(list);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1) continue;
    const bool packed = field.kind == WireField::Kind::bytes;
    if (kind == Feature::Kind::integers && packed) {
      for (WireReader values(field.bytes); !values.at_end();)
        put(static_cast<float>(static_cast<std::int64_t>(values.varint())));
    } else if (kind == Feature::Kind::integers) {
      put(static_cast<float>(static_cast<std::int64_t>(field.value)));
    } else if (packed) {
      const std::size_t count = field.bytes.size() / 4;
      if (count > out.size()) fail("the message is damaged: a list is longer than it seemed");
      static_assert(std::endian::native == std::endian::little);
      if (count > 0) std::memcpy(out.data(), field.bytes.data(), 4 * count);
      out = out.subspan(count);
    } else {
      put(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
    }
  }
  return out;
}

Feature make_feature(std::string_view name, ExampleBytes message, bool is_list) {
  Feature feature{.name = name, .message = message};
  if (is_list) {
    WireReader reader(message);
    for (WireField field; reader.next(field);) feature.steps += field.number == 1;
    if (feature.steps == 0) return feature;
  }
  visit_lists(feature, [&](Feature::Kind kind, ExampleBytes list) {
    if (feature.kind != Feature::Kind::empty && feature.kind != kind)
      fail("feature '{}' changes its kind from {} to {}", name, name_of(feature.kind), name_of(kind));
    feature.kind = kind;
    if (kind == Feature::Kind::bytes) visit_bytes(list, [&](ExampleBytes) { ++feature.count; });
    else feature.count += count_numbers(kind, list);
  });
  return feature;
}

// Calls visit(name, message, is_list) for every entry of the maps of an Example or a SequenceExample.
template <class F>
void visit_entries(ExampleBytes record, F visit) {
  WireReader reader(record);
  WireField part, entry, item;
  while (reader.next(part)) {
    if (part.kind != WireField::Kind::bytes || part.number < 1 || part.number > 2)
      fail("is not a tf.train.Example: it has an unknown field {}", part.number);
    WireReader entries(part.bytes);
    while (entries.next(entry)) {
      if (entry.number != 1 || entry.kind != WireField::Kind::bytes)
        fail("is not a tf.train.Example: it has no map of features");
      std::string_view name;
      ExampleBytes message;
      WireReader items(entry.bytes);
      while (items.next(item)) {
        if (item.kind != WireField::Kind::bytes) fail("is not a tf.train.Example: a feature is not a message");
        if (item.number == 1) name = {reinterpret_cast<const char*>(item.bytes.data()), item.bytes.size()};
        if (item.number == 2) message = item.bytes;
      }
      visit(name, message, part.number == 2);
    }
  }
}

}  // namespace

std::string_view name_of(Feature::Kind kind) {
  constexpr std::string_view names[] = {"empty", "bytes", "float", "int64"};
  return names[static_cast<int>(kind)];
}

void Feature::numbers(std::span<float> out) const {
  expects(kind == Kind::floats || kind == Kind::integers, "a feature of numbers");
  expects(std::ssize(out) == count, "memory for every value");
  std::span<float> rest = out;
  visit_lists(*this, [&](Kind of, ExampleBytes list) { rest = copy_numbers(of, list, rest); });
  expects(rest.empty(), "as many values as were counted");
}

std::span<const std::uint8_t> Feature::bytes(std::int64_t index) const {
  if (kind != Kind::bytes || index < 0 || index >= count)
    fail("the example is damaged or another: a feature that should hold bytes has no value {}", index);
  std::span<const std::uint8_t> found;
  visit_lists(*this, [&](Kind, ExampleBytes list) {
    visit_bytes(list, [&](ExampleBytes value) {
      if (index-- == 0) found = value;
    });
  });
  return found;
}

std::vector<Feature> features_of(std::span<const std::uint8_t> record) {
  std::vector<Feature> features;
  visit_entries(record, [&](std::string_view name, ExampleBytes message, bool is_list) {
    features.push_back(make_feature(name, message, is_list));
  });
  return features;
}

std::optional<Feature> find_feature(std::span<const std::uint8_t> record, std::string_view name) {
  ExampleBytes found;
  int kind = -1;
  visit_entries(record, [&](std::string_view entry, ExampleBytes message, bool is_list) {
    if (entry == name) found = message, kind = is_list;
  });
  if (kind < 0) return std::nullopt;
  return make_feature(name, found, kind == 1);
}

void ExampleWriter::add(std::string_view name, std::uint32_t kind, const WireWriter& list) {
  WireWriter feature, entry;
  feature.bytes(kind, list.message());
  entry.text(1, name);
  entry.bytes(2, feature.message());
  features_.bytes(1, entry.message());
}

void ExampleWriter::bytes(std::string_view name, std::span<const std::uint8_t> value) {
  WireWriter list;
  list.bytes(1, value);
  add(name, 1, list);
}

void ExampleWriter::floats(std::string_view name, std::span<const float> values) {
  WireWriter list;
  list.floats(1, values);
  add(name, 2, list);
}

void ExampleWriter::integers(std::string_view name, std::span<const std::int64_t> values) {
  WireWriter list;
  list.integers(1, values);
  add(name, 3, list);
}

std::vector<std::uint8_t> ExampleWriter::finish() {
  WireWriter example;
  example.bytes(1, features_.message());
  features_.clear();
  return {example.message().begin(), example.message().end()};
}

}  // namespace isobar::files
