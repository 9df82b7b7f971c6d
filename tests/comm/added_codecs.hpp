// The codecs that sums over ranks can carry.
#pragma once

#include <memory>
#include <vector>

#include "isobar/codec/codec.hpp"

namespace isobar::comm {

/// All codecs whose numbers are added on their way, by name.
inline std::vector<const codec::Codec*> added_codecs() {
  static const std::vector<std::unique_ptr<codec::Codec>> all = [] {
    std::vector<std::unique_ptr<codec::Codec>> list;
    for (const Row<codec::Codec>* row : codec::codecs())
      list.push_back(make(codec::codecs(), Spec(row->name), "codec"));
    return list;
  }();
  std::vector<const codec::Codec*> added;
  for (const auto& codec : all)
    if (codec->carriage() == codec::Carriage::added) added.push_back(codec.get());
  return added;
}

inline const codec::Codec& codec_named(const char* name) {
  for (const codec::Codec* codec : added_codecs())
    if (codec->describe() == name) return *codec;
  fail("no codec '{}' can be added", name);
}

}  // namespace isobar::comm
