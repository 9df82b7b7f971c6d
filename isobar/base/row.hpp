// Catalogues: a family is an array of rows, each the name, one-line summary and maker of one member.
// No macros and no self-registering statics: to add a member, add its file and its row.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/base/spec.hpp"
#include "isobar/base/text.hpp"

namespace isobar {

/// One member of the family T.
template <class T>
struct Row {
  using Made = T;
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<T> (*make)(Args&);
};

/// A maker for a row: of the member M, whose constructor reads the arguments if it takes them.
template <class M, class T>
std::unique_ptr<T> make_member([[maybe_unused]] Args& args) {
  if constexpr (std::is_constructible_v<M, Args&>) return std::make_unique<M>(args);
  else return std::make_unique<M>();
}

/// A family: pointers to its rows. R is Row<T>, or a type with the same three members and more.
template <class R>
using Table = std::span<const R* const>;

template <class R>
std::vector<std::string> names(Table<R> table) {
  std::vector<std::string> list;
  for (const R* row : table) list.emplace_back(row->name);
  return list;
}

/// The row called `name`; the error for an unknown name lists the known ones. `family` is singular: "optimizer".
template <class R>
const R& find(Table<R> table, std::string_view name, std::string_view family) {
  for (const R* row : table)
    if (row->name == name) return *row;
  fail_usage("unknown {} '{}'{}", family, name, suggestion(name, names(table)));
}

/// Makes the member a Spec names; arguments the maker did not read are an error. `resolved`, when given, receives the
/// Spec with all defaults filled in.
template <class R>
std::unique_ptr<typename R::Made> make(Table<R> table, const Spec& spec, std::string_view family,
                                       Spec* resolved = nullptr) {
  const R& row = find(table, spec.name(), family);
  Args args(spec, std::string(family));
  auto made = row.make(args);
  args.finish();
  if (resolved) *resolved = args.resolved();
  return made;
}

/// The arguments `maker` reads, in its order: "lr=0.001", or "channels=<whole number>" for a required one. If a maker
/// cannot continue without a required text or Spec, the list ends there.
std::vector<std::string> describe_arguments(std::string_view name, const std::function<void(Args&)>& maker);

/// The arguments of one member with their defaults, for lists; makes the member and throws it away.
template <class R>
std::vector<std::string> describe(const R& row) {
  return describe_arguments(row.name, [&](Args& args) { row.make(args); });
}

}  // namespace isobar
