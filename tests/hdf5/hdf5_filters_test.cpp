#include "isobar/hdf5/hdf5_filters.hpp"

#include <algorithm>
#include <libdeflate.h>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::hdf5 {
namespace {

using Kind = Hdf5Filter::Kind;
using Some = std::vector<std::byte>;

Some bytes(std::initializer_list<int> values) {
  Some made;
  for (const int value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

Some counting_bytes(std::size_t count) {
  Some made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<std::byte>(i % 251);
  return made;
}

Some deflated(const Some& plain) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  Some packed(libdeflate_zlib_compress_bound(compressor, plain.size()));
  packed.resize(libdeflate_zlib_compress(compressor, plain.data(), plain.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  return packed;
}

TEST(Hdf5Filters, ShuffleOfAnySize) {
  // The bytes of three numbers of three bytes and one byte more.
  const Some shuffled = bytes({1, 4, 7, 2, 5, 8, 3, 6, 9, 10});
  Some plain(10);
  EXPECT_EQ(undo_filters(std::vector<Hdf5Filter>{{Kind::shuffle, 3}}, 0, shuffled, plain), "");
  EXPECT_EQ(plain, bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  for (const std::uint32_t size : {1u, 2u, 4u, 8u}) {
    const std::size_t count = 37;
    const Some expected = counting_bytes(count * size);
    Some mixed(expected.size()), got(expected.size());
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < size; ++k) mixed[k * count + i] = expected[i * size + k];
    EXPECT_EQ(undo_filters(std::vector<Hdf5Filter>{{Kind::shuffle, size}}, 0, mixed, got), "");
    EXPECT_EQ(got, expected);
  }
}

TEST(Hdf5Filters, SkippedOnesAreLeftOut) {
  const std::vector<Hdf5Filter> filters{{Kind::shuffle, 2}, {Kind::deflate}};
  const Some plain = bytes({1, 2, 3, 4}), packed = deflated(plain);
  Some got(4);
  EXPECT_EQ(undo_filters(filters, 0b11, plain, got), "");
  EXPECT_EQ(got, plain);
  EXPECT_EQ(undo_filters(filters, 0b01, packed, got), "");
  EXPECT_EQ(got, plain);
  EXPECT_EQ(undo_filters(filters, 0b00, packed, got), "");
  EXPECT_EQ(got, bytes({1, 3, 2, 4}));
}

TEST(Hdf5Filters, DeflateOfAWrongSizeOrBroken) {
  const std::vector<Hdf5Filter> filters{{Kind::deflate}};
  const Some plain = counting_bytes(1000);
  Some packed = deflated(plain), exact(1000), less(999), more(1001);
  EXPECT_EQ(undo_filters(filters, 0, packed, exact), "");
  EXPECT_EQ(exact, plain);
  EXPECT_EQ(undo_filters(filters, 0, packed, less), "decompresses to more than its 999 bytes");
  EXPECT_EQ(undo_filters(filters, 0, packed, more), "decompresses to 1000 bytes in place of 1001");
  packed[packed.size() / 2] ^= std::byte{0xff};
  EXPECT_EQ(undo_filters(filters, 0, packed, exact), "its compressed data is corrupt");
  EXPECT_EQ(undo_filters(filters, 0, {}, exact), "its compressed data is corrupt");
}

TEST(Hdf5Filters, LzfByHand) {
  const std::vector<Hdf5Filter> filters{{Kind::lzf}};
  // "ab" as it is; 4 bytes from 2 back; 12 bytes (a longer length) from 1 back.
  const Some packed = bytes({1, 'a', 'b', 2 << 5, 1, 7 << 5, 3, 0});
  Some got(18);
  EXPECT_EQ(undo_filters(filters, 0, packed, got), "");
  EXPECT_EQ(got, bytes({'a', 'b', 'a', 'b', 'a', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'}));
  Some longer(19), shorter(17);
  EXPECT_EQ(undo_filters(filters, 0, packed, longer), "decompresses to 18 bytes in place of 19");
  for (const Some& broken :
       {bytes({1, 'a'}), bytes({0, 'a', 2 << 5, 1}), bytes({0, 'a', 7 << 5}), bytes({0, 'a', 2 << 5}), packed})
    EXPECT_EQ(undo_filters(filters, 0, broken, shorter), "its compressed data is corrupt");
}

TEST(Hdf5Filters, FletcherCountsOddBytesAndAcceptsTheOldOrder) {
  const std::vector<Hdf5Filter> filters{{Kind::fletcher32}};
  // Words 0x0102, 0x0300: the sums are 0x0402 and 0x0504.
  const Some plain = bytes({1, 2, 3});
  for (const Some& stored : {bytes({1, 2, 3, 0x02, 0x04, 0x04, 0x05}), bytes({1, 2, 3, 0x04, 0x02, 0x05, 0x04})}) {
    Some got(3);
    EXPECT_EQ(undo_filters(filters, 0, stored, got), "");
    EXPECT_EQ(got, plain);
  }
  Some got(3);
  EXPECT_EQ(undo_filters(filters, 0, bytes({1, 2, 4, 0x02, 0x04, 0x04, 0x05}), got),
            "its Fletcher-32 checksum is wrong");
  EXPECT_EQ(undo_filters(filters, 0, bytes({1, 2}), got), "too short for its checksum");
  EXPECT_EQ(undo_filters(filters, 1, bytes({1, 2}), got), "has 2 bytes in place of 3");
}

TEST(Hdf5Filters, WhatCannotBeIsKnownBefore) {
  const std::vector<Hdf5Filter> packed{{Kind::shuffle, 4}, {Kind::deflate}}, plain{{Kind::fletcher32}};
  EXPECT_TRUE(can_expand(packed, 0, 1000, 1'032'000));
  EXPECT_FALSE(can_expand(packed, 0, 1000, 1'032'001));
  EXPECT_FALSE(can_expand(packed, 0b10, 1000, 1001));
  EXPECT_TRUE(can_expand(plain, 0, 1004, 1000));
  EXPECT_FALSE(can_expand(plain, 0, 1004, 1'000'000));
}

TEST(Hdf5Filters, AreKnownByName) {
  EXPECT_EQ(hdf5_filter_name(1), "gzip");
  EXPECT_EQ(hdf5_filter_name(32008), "bitshuffle");
  EXPECT_EQ(hdf5_filter_name(12345), "");
}

}  // namespace
}  // namespace isobar::hdf5
