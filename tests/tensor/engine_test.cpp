#include "isobar/tensor/engine.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "isobar/base/instructions.hpp"
#include "isobar/tensor/layout.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar {
namespace {

TEST(Engine, IsOneCpuEngine) {
  EXPECT_EQ(cpu_engine().get_kind(), dnnl::engine::kind::cpu);
  EXPECT_EQ(&cpu_engine(), &cpu_engine());
}

TEST(Engine, ChoiceIsNamedWithAReason) {
  const IsaChoice choice = isa_choice();
  EXPECT_FALSE(choice.name.empty());
  EXPECT_FALSE(choice.reason.empty());
  EXPECT_EQ(isa_choice().name, choice.name);
}

TEST(Engine, AmxNeedsFlagAndPalette) {
  EXPECT_FALSE((AmxState{true, 0}.usable()));
  EXPECT_FALSE((AmxState{false, 1}.usable()));
  EXPECT_TRUE((AmxState{true, 1}.usable()));
}

TEST(Engine, IsCappedWithOurKernels) {
  cpu_engine();
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  const bool narrow = isa == dnnl::cpu_isa::avx2 || isa == dnnl::cpu_isa::avx || isa == dnnl::cpu_isa::sse41;
  if (instructions() == Instructions::v3) {
    EXPECT_TRUE(narrow) << isa_choice().name;
    EXPECT_EQ(isa_choice().reason, instruction_choice().reason);
  } else if (!std::getenv("ONEDNN_MAX_CPU_ISA") && !std::getenv("DNNL_MAX_CPU_ISA")) {
    EXPECT_FALSE(narrow) << isa_choice().name;
  }
}

TEST(Engine, HiddenTilesAreNeverUsed) {
  if (std::getenv("ONEDNN_MAX_CPU_ISA") || std::getenv("DNNL_MAX_CPU_ISA")) {
    // Here the user decides; the test is about what happens otherwise, so it runs itself without the variables.
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command =
        "env -u ONEDNN_MAX_CPU_ISA -u DNNL_MAX_CPU_ISA '" + self + "' --gtest_filter=Engine.HiddenTilesAreNeverUsed";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return;
  }
  const AmxState amx = amx_state();
  cpu_engine();
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (amx.usable() && instructions() == Instructions::v4) {
    EXPECT_EQ(isa_choice().reason, "the best this processor announces");
  } else {
    EXPECT_NE(isa, dnnl::cpu_isa::avx512_core_amx);
  }
}

// The crash that the guard prevents: bf16 where AMX is announced but not described.
TEST(Engine, Bf16ReorderRunsOnThisMachine) {
  std::vector<float> values{1, -2, 0.5f, 4}, back(4);
  std::vector<std::uint16_t> half(4);
  dnnl::stream stream(cpu_engine());
  dnnl::memory f32(plain({4}), cpu_engine(), values.data()), bf16(plain({4}, Dtype::bf16), cpu_engine(), half.data()),
      f32_back(plain({4}), cpu_engine(), back.data());
  dnnl::reorder(f32, bf16).execute(stream, f32, bf16);
  dnnl::reorder(bf16, f32_back).execute(stream, bf16, f32_back);
  stream.wait();
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace isobar
