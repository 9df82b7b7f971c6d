#include "isobar/base/config.hpp"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar {
namespace {

constexpr const char* recipe_text = R"toml(# a comment
name = "first \"run\""
model = "cosmoflow(size=32)"
zeta = 1
alpha = 2

[train]
epochs = 3
rate = 1e-3
shuffle = true
sizes = [1, 2, 3]
mixed = [1, "two", 3.0, [4]]
[train.stop]
patience = 5
[data]
path = 'C:\files'
parts = [{name = "a", weight = 1}, {name = "b", weight = 0.5}]
[report]
)toml";

template <class Call>
std::string message(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Spec set(const char* text, std::initializer_list<const char*> settings) {
  Spec recipe = parse_recipe(text, "test");
  for (const char* setting : settings) apply_setting(recipe, setting);
  return recipe;
}

TEST(Recipe, BecomesATreeOfSpecsInFileOrder) {
  const Spec recipe = parse_recipe(recipe_text, "test");
  EXPECT_EQ(recipe.name(), "recipe");
  EXPECT_EQ(recipe.str(),
            "recipe(name='first \"run\"', model='cosmoflow(size=32)', zeta=1, alpha=2, "
            "train=train(epochs=3, rate=0.001, shuffle=true, sizes=[1, 2, 3], mixed=[1, 'two', 3.0, [4]], "
            "stop=stop(patience=5)), "
            "data=data(path='C:\\files', parts=[parts(name='a', weight=1), parts(name='b', weight=0.5)]), "
            "report=report)");
}

TEST(Recipe, IsReadThroughArgs) {
  Args root(parse_recipe("model = 'cosmoflow(size=32)'\n[train]\nepoch = 3\n", "test"), "recipe");
  EXPECT_EQ(root.spec("model"), Spec("cosmoflow(size=32)"));
  Args train = root.section("train");
  EXPECT_EQ(train.integer("epochs", 7), 7);
  EXPECT_NO_THROW(root.finish());
  EXPECT_EQ(message([&] { train.finish(); }), "section 'train': unknown key 'epoch' (did you mean 'epochs'?)");
}

TEST(Recipe, SyntaxErrorsNameThePlaceInOneLine) {
  for (const char* text : {"a = ", "a = 1\nb = [1, 2\n", "[train\n", "a = 1\na = 2\n", "= 3", "a = 'x", "a b = 1",
                           "[a]\n[a]\n", "a = 1979-05-27", "a = 07:32:00", "a = \xff", "a = {b = 1", "\x01"}) {
    const std::string said = message([&] { parse_recipe(text, "run.toml"); });
    EXPECT_EQ(said.rfind("run.toml:", 0), 0u) << text << " -> " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_EQ(message([&] { parse_recipe("a = 1\n b = @\n", "run.toml"); }).rfind("run.toml:2:", 0), 0u);
}

TEST(Recipe, NestingHasALimit) {
  std::string keys = "a", list = "a = ";
  for (int i = 0; i < max_nesting; ++i) keys += ".a", list += "[";
  for (int i = 0; i < max_nesting; ++i) list += "]";
  EXPECT_THROW(parse_recipe(keys + " = 1", "test"), UsageError);
  EXPECT_THROW(parse_recipe("a = [" + list.substr(4) + "]", "test"), UsageError);
  EXPECT_NO_THROW(parse_recipe(list, "test"));
}

TEST(Recipe, FilesAreReadAndMissingOnesNamed) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "isobar_config_test.toml";
  std::ofstream(file) << recipe_text;
  EXPECT_EQ(read_recipe(file), parse_recipe(recipe_text, "test"));
  std::ofstream(file) << "a = 1\nb =\n";
  EXPECT_EQ(message([&] { read_recipe(file); }).rfind(file.string() + ":2:", 0), 0u);
  std::filesystem::remove(file);
  EXPECT_EQ(message([&] { read_recipe(file); }),
            "recipe '" + file.string() + "' cannot be opened; give the path of a TOML file");
  EXPECT_EQ(message([&] { read_recipe(testing::TempDir()); }),
            "recipe '" + testing::TempDir() + "' is a directory; a TOML file is needed");
}

TEST(Setting, ReplacesAddsAndMakesSections) {
  EXPECT_EQ(set("[train]\nepochs = 3\n", {"train.epochs=5"}), parse_recipe("[train]\nepochs = 5\n", ""));
  EXPECT_EQ(set("", {"train.stop.patience = 2", "seed=7"}), parse_recipe("seed = 7\n[train.stop]\npatience = 2\n", ""));
  EXPECT_EQ(set("a = 1\n", {"a=[1, 2]"}), parse_recipe("a = [1, 2]\n", ""));
  EXPECT_EQ(set("", {"t={a = 1, b = 'x'}"}), parse_recipe("[t]\na = 1\nb = 'x'\n", ""));
}

TEST(Setting, ValuesAreTomlWherePossibleAndTextOtherwise) {
  const Spec recipe = set("", {"a=3", "b=1e-3", "c=true", "d=\"3\"", "e=cosmoflow(size=32, wide=true)", "f=/data/x y",
                               "g=2024-05-01", "h=.5", "i=1.2.3", "j=a=b", "k=\"\"", "l=2.", "m=1\nn = 2"});
  EXPECT_EQ(*recipe.find("a"), Value(3));
  EXPECT_EQ(*recipe.find("b"), Value(1e-3));
  EXPECT_EQ(*recipe.find("c"), Value(true));
  EXPECT_EQ(*recipe.find("d"), Value("3"));
  EXPECT_EQ(*recipe.find("e"), Value("cosmoflow(size=32, wide=true)"));
  EXPECT_EQ(*recipe.find("f"), Value("/data/x y"));
  EXPECT_EQ(*recipe.find("g"), Value("2024-05-01"));
  EXPECT_EQ(*recipe.find("h"), Value(0.5));
  EXPECT_EQ(*recipe.find("i"), Value("1.2.3"));
  EXPECT_EQ(*recipe.find("j"), Value("a=b"));
  EXPECT_EQ(*recipe.find("k"), Value(""));
  EXPECT_EQ(*recipe.find("l"), Value(2.0));
  EXPECT_EQ(*recipe.find("m"), Value("1\nn = 2"));
  EXPECT_EQ(Args(recipe).spec("e"), Spec("cosmoflow(size=32, wide=true)"));
}

TEST(Setting, ReachesTheArgumentsOfANamedThing) {
  const char* text = "rate = 'warmup(epochs=4, then=step(every=9))'\nmodel = 'cosmoflow'\n";
  const Spec recipe = set(text, {"rate.then.every=3", "rate.from=0.5", "model.size=32"});
  EXPECT_EQ(Args(recipe).spec("rate"), Spec("warmup(epochs=4, then=step(every=3), from=0.5)"));
  EXPECT_EQ(Args(recipe).spec("model"), Spec("cosmoflow(size=32)"));
}

TEST(Setting, MalformedOnesAreRefused) {
  const char* text = "a = 1\nt = 'two words'\n[train]\nepochs = 3\n";
  for (const char* setting : {"", "=", "a", "a.b", "=3", "a=", "a= ", ".a=1", "a.=1", "a..b=1", "a b=1", "a=\"x",
                              "a=[1", "a={b", "a='x", "a.b=1", "t.b=1", "train=3", "train=text"}) {
    Spec recipe = parse_recipe(text, "test");
    const std::string said = message([&] { apply_setting(recipe, setting); });
    EXPECT_EQ(said.rfind("--set ", 0), 0u) << setting << " -> " << said;
    EXPECT_EQ(recipe, parse_recipe(text, "test")) << setting;
  }
  std::string deep = "a";
  for (int i = 0; i < max_nesting; ++i) deep += ".a";
  Spec recipe = parse_recipe("", "test");
  EXPECT_THROW(apply_setting(recipe, deep + "=1"), UsageError);
}

TEST(WriteRecipe, ReadsBackEqual) {
  Spec recipe = set(recipe_text, {"model.size=64", "train.note=it's \"so\"", "empty=[]"});
  Spec odd("odd", {{"a b", 1}, {"", "x"}, {"c.d", Spec("c.d", {{"e\"f", "tab\tnewline\nbell\a back\\slash"}})}});
  recipe.set("odd", odd);
  recipe.set("numbers",
             std::vector<Value>{1e300, 5e-324, 1.0, 1e-5, -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<std::int64_t>::min()});
  const std::string written = write_recipe(recipe);
  EXPECT_EQ(parse_recipe(written, "written"), recipe) << written;
  EXPECT_EQ(write_recipe(parse_recipe(written, "written")), written);
}

TEST(WriteRecipe, KeepsTheOrderWithSectionsLast) {
  EXPECT_EQ(write_recipe(parse_recipe("z = 1\n[t.u]\nb = 2\n[t]\na = 'x'\n[e]\n", "test")),
            "z = 1\n\n[t]\na = \"x\"\n\n[t.u]\nb = 2\n\n[e]\n");
  EXPECT_EQ(write_recipe(Spec("recipe")), "");
}

TEST(WriteRecipe, BareSpecsBecomeText) {
  const Spec resolved("recipe", {{"optimizer", Spec("adam(lr=0.1)")}, {"form", Spec("tf")}});
  EXPECT_EQ(write_recipe(resolved), "optimizer = \"adam(lr=0.1)\"\nform = \"tf\"\n");
}

}  // namespace
}  // namespace isobar
