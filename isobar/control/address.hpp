// Where the launcher of a supervised run listens; its ranks read it from the variable ISOBAR_SUPERVISOR as
// host:port:token. Every `isobar run` makes a new token, which keeps strangers out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace isobar::control {

inline constexpr const char* address_variable = "ISOBAR_SUPERVISOR";

struct Address {
  std::string host;
  std::uint16_t port = 0;
  std::string token;

  std::string text() const;
};

/// Reads host:port:token; fails on anything else.
Address read_address(std::string_view text);

/// Whether a launcher supervises this process.
bool supervised();

/// The token of the launch, the same on all its ranks and after a relaunch; empty if no launcher supervises.
std::string launch_id();

/// The name of this machine, as one word.
std::string host_name();

/// A new token that cannot be guessed.
std::string new_token();

}  // namespace isobar::control
