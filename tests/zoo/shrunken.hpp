// Every network as small as its structure allows, for tests that run it. These tests fail for a network without a row.
#pragma once

#include <cstdint>
#include <ostream>

namespace isobar::zoo {

struct Shrunken {
  const char* spec;         ///< without dropout, so that a run is a function of its weights alone
  std::int64_t tokens = 0;  ///< above 0: the input holds whole numbers below this
  friend std::ostream& operator<<(std::ostream& out, const Shrunken& row) { return out << row.spec; }
};

inline constexpr std::int64_t shrunken_batch = 2;

inline constexpr Shrunken shrunken[] = {
    {"alexnet(size=55, classes=5, scale=0.0625, dropout=0)"},
    {"caffenet(size=55, classes=5, scale=0.0625, dropout=0)"},
    {"cifar10_full(size=12, classes=4, scale=0.25)"},
    {"cifar10_quick(size=12, classes=4, scale=0.25)"},
    {"climate_detector(height=64, width=128, channels=3, scale=0.03125)"},
    {"climate_detector(variant=b, height=64, width=96, channels=3, scale=0.03125)"},
    {"climate_detector(variant=b, height=32, width=32, channels=3, scale=0.03125, lambda=0)"},
    {"cosmoflow(size=16, channels=2, width=4, layers=3, dropout=0)"},
    {"cosmoflow_sc18(size=16, padding=same, scale=0.125, dropout=0)"},
    {"deepcam(height=32, width=48, channels=3, scale=0.125, middle=1)"},
    {"deeplabv3plus(height=32, width=48, channels=3, scale=0.0625, units=[2, 1, 1, 1])"},
    {"deeplabv3plus(height=32, width=48, channels=3, scale=0.0625, units=[2, 1, 1, 1], batch_norm=true)"},
    {"googlenet(size=79, classes=5, scale=0.125, dropout=0, auxiliary_dropout=0)"},
    {"googlenet(size=47, classes=5, scale=0.125, dropout=0, auxiliary=false)"},
    {"gpt(layers=2, heads=2, width=16, context=6, vocabulary=11)", 11},
    {"gpt2_small(layers=1, heads=3, width=12, context=5, vocabulary=7)", 7},
    {"hep(size=16, filters=8, layers=4, dropout=0)"},
    {"lenet(size=16, scale=0.2)"},
    {"lstm_classifier(length=5, features=6, units=8, hidden=5, classes=3)"},
    {"lstm_classifier(length=5, features=6, units=8, hidden=5, classes=3, vocabulary=9, output=softmax)", 9},
    {"lstm_classifier(length=4, features=6, units=8, classes=3, vocabulary=9, train_embedding=true)", 9},
    {"resnet101(size=64, classes=6, scale=0.0625, units=[2, 1, 1, 1])"},
    {"tiramisu(height=32, width=48, channels=3, filters=8, growth=4, kernel=3, blocks=[2, 1, 2], dropout=0)"},
};

}  // namespace isobar::zoo
