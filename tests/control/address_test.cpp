// The address of a launcher in the environment: what is written can be read back, and nonsense is refused.
#include "isobar/control/address.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::control {
namespace {

TEST(Address, is_read_as_it_is_written) {
  const Address address{"10.9.0.254", 4711, "abc123"};
  const Address read = read_address(address.text());
  EXPECT_EQ(read.host, address.host);
  EXPECT_EQ(read.port, address.port);
  EXPECT_EQ(read.token, address.token);
}

TEST(Address, of_version_six_keeps_its_colons) {
  const Address read = read_address("fe80::1:4711:abc");
  EXPECT_EQ(read.host, "fe80::1");
  EXPECT_EQ(read.port, 4711);
}

TEST(Address, refuses_nonsense) {
  for (const char* text : {"", ":", "::", "host", "host:1", "host:1:", ":1:t", "host:0:t", "host:65536:t", "host:-1:t",
                           "host:1x:t", "host:1:with space", "host:1:a\nb"})
    EXPECT_THROW(read_address(text), Error) << text;
  EXPECT_THROW(read_address(std::string(10'000, 'h') + ":1:t"), Error);
}

TEST(Address, tokens_are_long_and_differ) {
  EXPECT_EQ(new_token().size(), 32u);
  EXPECT_NE(new_token(), new_token());
}

}  // namespace
}  // namespace isobar::control
