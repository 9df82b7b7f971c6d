#include "isobar/onnx/model.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/onnx/structure.hpp"

namespace isobar::onnx {
namespace {

constexpr std::int64_t max_whole = std::int64_t{1} << 31;

const Attribute* find(const OnnxNode& node, const char* name, Attribute::Kind kind, const char* wanted) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  if (found->second.kind != kind) fail("attribute {} is not {}", name, wanted);
  return &found->second;
}

// Larger numbers are only used to mean "to the end"; no extent is that large.
std::int64_t limited(std::int64_t v) { return std::clamp(v, -max_whole, max_whole); }

}  // namespace

std::int64_t OnnxNode::integer(const char* attribute, std::int64_t otherwise) const {
  const Attribute* a = find(*this, attribute, Attribute::Kind::integer, "a whole number");
  return a ? limited(a->integer) : otherwise;
}

double OnnxNode::number(const char* attribute, double otherwise) const {
  const Attribute* a = find(*this, attribute, Attribute::Kind::number, "a number");
  return a ? a->number : otherwise;
}

std::string OnnxNode::text(const char* attribute, std::string_view otherwise) const {
  const Attribute* a = find(*this, attribute, Attribute::Kind::text, "text");
  return a ? a->text : std::string(otherwise);
}

std::vector<std::int64_t> OnnxNode::integers(const char* attribute, std::vector<std::int64_t> otherwise) const {
  const Attribute* a = find(*this, attribute, Attribute::Kind::integers, "a list of whole numbers");
  if (!a) return otherwise;
  std::vector<std::int64_t> list = a->integers;
  std::ranges::transform(list, list.begin(), limited);
  return list;
}

std::vector<double> OnnxNode::numbers(const char* attribute, std::vector<double> otherwise) const {
  const Attribute* a = find(*this, attribute, Attribute::Kind::numbers, "a list of numbers");
  return a ? a->numbers : otherwise;
}

void put_in_order(OnnxModel& model) {
  std::map<std::string, std::size_t> writer;  // value -> node
  std::map<std::string, bool> given;
  for (const auto& [name, ignored] : model.initializers) given[name] = true;
  for (const Interface& input : model.inputs) {
    if (given.contains(input.name)) fail("input '{}' appears twice", input.name);
    given[input.name] = true;
  }
  for (std::size_t n = 0; n < model.nodes.size(); ++n)
    for (const std::string& name : model.nodes[n].out) {
      if (name.empty()) continue;
      if (given.contains(name) || !writer.emplace(name, n).second)
        fail("value '{}', written by node '{}', was already written", name, model.nodes[n].name);
    }

  std::vector<std::vector<std::size_t>> readers(model.nodes.size());
  std::vector<std::size_t> missing(model.nodes.size(), 0);
  for (std::size_t n = 0; n < model.nodes.size(); ++n)
    for (const std::string& name : model.nodes[n].in) {
      if (name.empty() || given.contains(name)) continue;
      const auto from = writer.find(name);
      if (from == writer.end()) fail("node '{}' reads '{}', which nothing writes", model.nodes[n].name, name);
      readers[from->second].push_back(n);
      ++missing[n];
    }

  // Of the nodes that can run, the first in the file comes next.
  std::vector<std::size_t> order, ready;
  for (std::size_t n = model.nodes.size(); n-- > 0;)
    if (missing[n] == 0) ready.push_back(n);
  std::ranges::make_heap(ready, std::greater());
  while (!ready.empty()) {
    std::ranges::pop_heap(ready, std::greater());
    const std::size_t n = ready.back();
    ready.pop_back();
    order.push_back(n);
    for (const std::size_t r : readers[n])
      if (--missing[r] == 0) {
        ready.push_back(r);
        std::ranges::push_heap(ready, std::greater());
      }
  }
  if (order.size() < model.nodes.size()) {
    std::vector<std::string> stuck;
    for (std::size_t n = 0; n < model.nodes.size() && stuck.size() < 5; ++n)
      if (missing[n] > 0) stuck.push_back(model.nodes[n].name);
    fail("the nodes depend on each other in a cycle: {}", join(stuck, ", "));
  }
  for (const Interface& output : model.outputs)
    if (!given.contains(output.name) && !writer.contains(output.name))
      fail("output '{}' is never written", output.name);

  std::vector<OnnxNode> sorted;
  sorted.reserve(order.size());
  for (const std::size_t n : order) sorted.push_back(std::move(model.nodes[n]));
  model.nodes = std::move(sorted);
}

}  // namespace isobar::onnx
