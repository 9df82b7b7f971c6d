// Writes a recipe as TOML by hand, because toml++ would sort the keys by name.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "isobar/base/config.hpp"
#include "isobar/base/text.hpp"

namespace isobar {
namespace {

std::string toml_text(std::string_view text) {
  std::string written = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') written += {'\\', c};
    else if (c == '\n') written += "\\n";
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      written += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else written += c;
  }
  return written + '"';
}

std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return (c < 128 && std::isalnum(c)) || c == '_' || c == '-';
  });
  return bare ? key : toml_text(key);
}

const Spec* as_section(const Value& value, const std::string& key) {
  const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held);
  return spec && !value.quoted && (*spec)->name() == key ? spec->get() : nullptr;
}

std::string inline_value(const Value& value, const std::string& key) {
  std::vector<std::string> parts;
  if (const Spec* section = as_section(value, key)) {
    for (const auto& [name, held] : section->arguments())
      parts.push_back(fmt::format("{} = {}", toml_key(name), inline_value(held, name)));
    return "{" + join(parts, ", ") + "}";
  }
  if (const auto* list = std::get_if<std::vector<Value>>(&value.held)) {
    for (const Value& item : *list) parts.push_back(inline_value(item, key));
    return "[" + join(parts, ", ") + "]";
  }
  if (const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held))
    return toml_text(value.quoted ? (*spec)->name() : (*spec)->str());
  return value.str();
}

void write_section(const Spec& section, const std::string& path, std::string& out) {
  std::vector<std::pair<std::string, const Spec*>> nested;
  std::string lines;
  for (const auto& [key, value] : section.arguments()) {
    if (const Spec* inner = as_section(value, key)) nested.emplace_back(toml_key(key), inner);
    else lines += fmt::format("{} = {}\n", toml_key(key), inline_value(value, key));
  }
  if (!path.empty() && (!lines.empty() || nested.empty()))
    out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", path);
  out += lines;
  for (const auto& [key, inner] : nested) write_section(*inner, path.empty() ? key : path + "." + key, out);
}

}  // namespace

std::string write_recipe(const Spec& recipe) {
  std::string out;
  write_section(recipe, "", out);
  return out;
}

}  // namespace isobar
