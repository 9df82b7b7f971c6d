// Ids: each kind of thing has its own type of number, so that a step cannot be mistaken for a buffer; and vectors that
// only such ids can index. A default-constructed id means "none"; it compares less than all others.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <utility>
#include <vector>

namespace isobar {

/// The number of a `Thing` in its list, from 0.
template <class Thing>
class Id {
 public:
  using difference_type = int;

  constexpr Id() = default;
  constexpr explicit Id(std::integral auto number) : number_(number) {}

  /// -1 for "none".
  constexpr int number() const { return number_; }
  /// Whether the id refers to something.
  constexpr explicit operator bool() const { return number_ >= 0; }
  constexpr auto operator<=>(const Id&) const = default;

  constexpr Id& operator++() { return ++number_, *this; }
  constexpr Id& operator--() { return --number_, *this; }
  constexpr Id operator++(int) { return Id(number_++); }
  constexpr Id operator--(int) { return Id(number_--); }
  constexpr Id operator+(std::integral auto more) const { return Id(number_ + more); }

 private:
  int number_ = -1;
};

/// The ids from `first` up to but not including `last`; std::views::reverse goes through them backwards.
template <class Thing>
constexpr auto ids(Id<Thing> first, Id<Thing> last) {
  return std::views::iota(first, last);
}

/// The numbers of these ids, for files and for rooms that do not know the type.
template <class Thing>
std::vector<int> plain_numbers(const std::vector<Id<Thing>>& list) {
  std::vector<int> all;
  for (const Id<Thing> id : list) all.push_back(id.number());
  return all;
}

/// A vector with one element per id.
template <class Index, class T>
class IdVector : private std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::assign, Base::back, Base::begin, Base::clear, Base::data, Base::empty, Base::end, Base::front,
      Base::push_back, Base::rbegin, Base::rend, Base::size;
  using typename Base::const_iterator, typename Base::iterator, typename Base::value_type;

  IdVector() = default;
  /// One element, equal to `value`, for each of `count` ids.
  explicit IdVector(std::size_t count, const T& value = T()) : Base(count, value) {}

  decltype(auto) operator[](Index id) { return Base::operator[](id.number()); }
  decltype(auto) operator[](Index id) const { return Base::operator[](id.number()); }

  friend bool operator==(const IdVector& a, const IdVector& b) { return std::ranges::equal(a, b); }

  /// Appends an element and returns its id.
  Index add(T element) { return push_back(std::move(element)), Index(size() - 1); }
  /// The id that the next element will have.
  Index next() const { return Index(size()); }
  /// The ids of all elements, in order.
  auto ids() const { return isobar::ids(Index(0), next()); }
};

}  // namespace isobar
