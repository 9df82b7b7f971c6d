// Where the launcher of a supervised run listens, as the environment ISOBAR_SUPERVISOR tells its ranks:
// host:port:token. The token is new for every launch of `isobar run` and keeps strangers out.
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

/// The token of the launch, equal on all its ranks and after a relaunch; empty when nobody supervises.
std::string launch_id();

/// The name of this machine, in one word.
std::string host_name();

/// A token nobody can guess.
std::string new_token();

}  // namespace isobar::control
