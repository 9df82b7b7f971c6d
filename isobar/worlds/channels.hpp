// The sixteen channels of a climate state, in the order of the DeepCAM and ClimateNet files.
#pragma once

#include <array>
#include <string_view>

namespace isobar::worlds {

/// Indices of the channels in a state.
enum Channel : int { TMQ, U850, V850, UBOT, VBOT, QREFHT, PS, PSL, T200, T500, PRECT, TS, TREFHT, Z1000, Z200, ZBOT };

/// Name, unit and meaning of a channel, as CF files give them.
struct ChannelInfo {
  std::string_view name, unit, meaning;
};

inline constexpr std::array<ChannelInfo, 16> channels{{
    {"TMQ", "kg m-2", "total (vertically integrated) precipitable water"},
    {"U850", "m s-1", "eastward wind at 850 hPa"},
    {"V850", "m s-1", "northward wind at 850 hPa"},
    {"UBOT", "m s-1", "eastward wind at the lowest model level"},
    {"VBOT", "m s-1", "northward wind at the lowest model level"},
    {"QREFHT", "kg kg-1", "specific humidity at 2 m"},
    {"PS", "Pa", "surface pressure"},
    {"PSL", "Pa", "sea level pressure"},
    {"T200", "K", "temperature at 200 hPa"},
    {"T500", "K", "temperature at 500 hPa"},
    {"PRECT", "m s-1", "precipitation rate"},
    {"TS", "K", "surface temperature"},
    {"TREFHT", "K", "temperature at 2 m"},
    {"Z1000", "m", "geopotential height at 1000 hPa"},
    {"Z200", "m", "geopotential height at 200 hPa"},
    {"ZBOT", "m", "height of the lowest model level above the surface"},
}};

inline constexpr int channel_count = std::ssize(channels);

}  // namespace isobar::worlds
