#include "isobar/control/address.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sys/random.h>
#include <unistd.h>

#include "isobar/base/error.hpp"

namespace isobar::control {

std::string Address::text() const { return fmt::format("{}:{}:{}", host, port, token); }

Address read_address(std::string_view text) {
  const auto last = text.rfind(':');
  const auto middle = last == text.npos || last == 0 ? text.npos : text.rfind(':', last - 1);
  Address address;
  if (middle != text.npos && middle > 0 && text.size() < 400) {
    const std::string_view port = text.substr(middle + 1, last - middle - 1), token = text.substr(last + 1);
    const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    const bool clean = std::ranges::all_of(token, [](char c) { return std::isalnum(static_cast<unsigned char>(c)); });
    if (problem == std::errc() && end == port.data() + port.size() && address.port > 0 && !token.empty() && clean) {
      address.host = text.substr(0, middle);
      address.token = token;
      return address;
    }
  }
  fail("{} is '{}', which is not host:port:token as isobar run sets it", address_variable, text.substr(0, 200));
}

bool supervised() {
  const char* text = std::getenv(address_variable);
  return text && *text;
}

std::string launch_id() { return supervised() ? read_address(std::getenv(address_variable)).token : ""; }

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::string word = name;
  for (char& c : word)
    if (!std::isgraph(static_cast<unsigned char>(c))) c = '_';
  return word.empty() ? "unknown" : word;
}

std::string new_token() {
  unsigned char bytes[16] = {};
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    fail("the system provides no random numbers for the token of a launch");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace isobar::control
