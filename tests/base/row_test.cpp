#include "isobar/base/row.hpp"

#include <gtest/gtest.h>

namespace isobar {
namespace {

struct Animal {
  std::string sound;
};

const Row<Animal> dog{"dog", "barks", [](Args& args) {
                        const std::int64_t times = args.integer("times", 2);
                        args.require(times > 0, "times must be above 0");
                        std::string sound;
                        for (std::int64_t i = 0; i < times; ++i) sound += args.text("sound", "wau");
                        return std::make_unique<Animal>(Animal{sound});
                      }};
const Row<Animal> whale{"whale", "sings", [](Args& args) {
                          args.integer("depth");
                          args.flag("blue", true);
                          args.real("length");
                          return std::make_unique<Animal>();
                        }};
const Row<Animal> ghost{"ghost", "needs a house", [](Args& args) {
                          args.integer("age");
                          args.text("house");
                          args.real("never_reached");
                          return std::make_unique<Animal>();
                        }};

Table<Row<Animal>> animals() {
  static constexpr const Row<Animal>* all[] = {&dog, &whale, &ghost};
  return all;
}

std::string row_message(const char* text) {
  try {
    make(animals(), Spec(text), "animal");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Row, MakesWhatTheSpecNames) {
  Spec resolved;
  EXPECT_EQ(make(animals(), "dog(times=3)", "animal", &resolved)->sound, "wauwauwau");
  EXPECT_EQ(resolved.str(), "dog(times=3, sound='wau')");
  EXPECT_EQ(find(animals(), "whale", "animal").summary, "sings");
  EXPECT_EQ(names(animals()), (std::vector<std::string>{"dog", "whale", "ghost"}));
}

TEST(Row, MistakesAreAnsweredWithWhatExists) {
  EXPECT_EQ(row_message("dgo"), "unknown animal 'dgo' (did you mean 'dog'?)");
  EXPECT_EQ(row_message("elephant"), "unknown animal 'elephant'; known: dog, whale, ghost");
  EXPECT_EQ(row_message("dog(time=3)"), "animal 'dog': unknown argument 'time' (did you mean 'times'?)");
  EXPECT_EQ(row_message("dog(times=0)"), "animal 'dog': times must be above 0 (dog(times=0))");
  EXPECT_EQ(row_message("whale"), "animal 'whale': argument 'depth' (whole number) is missing");
}

TEST(Row, DescribesDefaultsAndWhatIsRequired) {
  using List = std::vector<std::string>;
  EXPECT_EQ(describe(dog), (List{"times=2", "sound='wau'"}));
  EXPECT_EQ(describe(whale), (List{"depth=<whole number>", "blue=true", "length=<number>"}));
  EXPECT_EQ(describe(ghost), (List{"age=<whole number>", "house=<text>"}));
}

}  // namespace
}  // namespace isobar
