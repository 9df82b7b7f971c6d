// NetcdfHeader: what a NetCDF file says about itself, the same for all kinds: dimensions, variables, attributes. A
// storage knows where the numbers of the variables are. Names of things in a group are paths: "forecast/T".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/files/input_file.hpp"
#include "isobar/files/stored_numbers.hpp"
#include "isobar/tensor/box.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::hdf5 {

struct NetcdfDimension {
  std::string name{};
  std::int64_t size = 0;
  bool unlimited = false;
};

/// Text or numbers; an attribute that is neither has no value, only the name of its type.
struct NetcdfAttribute {
  std::string name{};
  std::string type{};      ///< as in ncdump: "float", "char", "string"
  files::Stored stored{};  ///< of numbers
  std::string text{};
  std::vector<double> numbers{};
};

/// One array; `stored.kind` is `other` if it does not hold numbers.
struct NetcdfVariable {
  std::string name{};
  std::string type{};  ///< as in ncdump: "short", "double", "char"
  files::Stored stored{};
  std::vector<std::size_t> dimensions{};  ///< numbers of its dimensions in the header, one per axis
  Shape shape{};
  std::vector<NetcdfAttribute> attributes{};
  std::string storage{};  ///< how it is stored, in words: "chunks of [1, 361, 576], shuffle, gzip"; may be empty

  bool is_numbers() const { return stored.kind != files::Stored::Kind::other; }
  const NetcdfAttribute* attribute(std::string_view key) const;
  /// The text of an attribute; "" if there is none.
  std::string text(std::string_view key) const;
};

struct NetcdfHeader {
  std::string kind{};  ///< "NetCDF classic", "NetCDF 64-bit offset", "NetCDF CDF-5", "NetCDF-4"
  std::vector<NetcdfDimension> dimensions{};
  std::vector<NetcdfVariable> variables{};
  std::vector<NetcdfAttribute> attributes{};  ///< of the file
};

/// Where the numbers of a file are; reading needs no lock.
class NetcdfStorage {
 public:
  virtual ~NetcdfStorage() = default;

  /// Reads numbers as they are stored from the box of `extent` at `from`; both are within the variable.
  virtual void read(std::size_t variable, Indices from, Indices extent, std::span<float> out) const = 0;
  virtual void read(std::size_t variable, Indices from, Indices extent, std::span<double> out) const = 0;
};

/// How a file of the classic kinds (CDF-1, CDF-2, CDF-5) or of NetCDF-4 is opened: its header is filled in.
std::unique_ptr<NetcdfStorage> open_classic(files::InputFile file, NetcdfHeader& header);
std::unique_ptr<NetcdfStorage> open_netcdf4(files::InputFile file, NetcdfHeader& header);

/// The value with which the NetCDF library fills unwritten variables; nullopt for bytes, all of whose values are in
/// use, and for types that are not numbers.
std::optional<double> default_fill(const files::Stored& stored);

/// The product of sizes that a file claims; more than `most` is an Error that begins with `subject`.
std::int64_t checked_count(std::span<const std::int64_t> sizes, std::int64_t most, std::string_view subject);

}  // namespace isobar::hdf5
