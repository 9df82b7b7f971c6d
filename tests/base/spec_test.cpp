#include "isobar/base/spec.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar {
namespace {

// The message of the UsageError that `call` throws; "" if it throws none.
template <class Call>
std::string spec_message(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Spec, ReadsEveryKindOfValue) {
  const Spec spec("net( a=3, b=-0.5 ,c=true,d=word, e='some text', f=[1, 2.5, x], g=other(h=1e-3), i=\"it's\", j=[])");
  EXPECT_EQ(spec.name(), "net");
  EXPECT_EQ(*spec.find("a"), Value(3));
  EXPECT_EQ(*spec.find("b"), Value(-0.5));
  EXPECT_EQ(*spec.find("c"), Value(true));
  EXPECT_EQ(*spec.find("d"), Value(Spec("word")));
  EXPECT_EQ(*spec.find("e"), Value("some text"));
  EXPECT_EQ(*spec.find("f"), Value(std::vector<Value>{1, 2.5, Spec("x")}));
  EXPECT_EQ(*spec.find("g"), Value(Spec("other", {{"h", 1e-3}})));
  EXPECT_EQ(*spec.find("i"), Value("it's"));
  EXPECT_EQ(*spec.find("j"), Value(std::vector<Value>{}));
  EXPECT_EQ(spec.find("k"), nullptr);
}

TEST(Spec, WhatIsWrittenReadsBackEqual) {
  Spec spec("outer");
  spec.set("integer", std::numeric_limits<std::int64_t>::min());
  spec.set("third", 1.0 / 3);
  spec.set("whole_real", 4.0);
  spec.set("huge", 1e300);
  spec.set("tiny", -5e-324);
  spec.set("infinite", -std::numeric_limits<double>::infinity());
  spec.set("undefined", std::numeric_limits<double>::quiet_NaN());
  spec.set("flag", false);
  spec.set("empty", "");
  spec.set("single", "it's");
  spec.set("double", "say \"hi\"");
  spec.set("both", "it's \"hi\", ''");
  spec.set("path", "/data/a b/c=d(e),[f]");
  spec.set("looks_true", "true");
  spec.set("list", std::vector<Value>{1, "a, b", std::vector<Value>{}, Spec("inner(x=[1, 2])")});
  const Spec again(spec.str());
  EXPECT_EQ(again, spec) << spec.str();
  EXPECT_EQ(again.str(), spec.str());
}

TEST(Spec, EqualityIgnoresOrderAndNothingElse) {
  EXPECT_EQ(Spec("a(x=1, y=2)"), Spec("a(y=2, x=1)"));
  EXPECT_EQ(Spec("a()"), Spec("a"));
  EXPECT_FALSE(Spec("a(x=1)") == Spec("a(x=1.0)"));
  EXPECT_FALSE(Spec("a(x=word)") == Spec("a(x='word')"));
  EXPECT_FALSE(Spec("a(x=1)") == Spec("b(x=1)"));
  EXPECT_FALSE(Spec("a(x=1)") == Spec("a(y=1)"));
  EXPECT_FALSE(Spec("a(x=1)") == Spec("a(x=1, y=1)"));
  EXPECT_FALSE(Spec("a(x=b(c=1))") == Spec("a(x=b(c=2))"));
}

TEST(Spec, SetReplacesOrAppends) {
  Spec spec("a(x=1, y=2)");
  spec.set("x", 3);
  spec.set("z", "t");
  EXPECT_EQ(spec.str(), "a(x=3, y=2, z='t')");
}

TEST(Spec, GarbageIsAUsageErrorInOneLine) {
  const std::vector<std::string> garbage{"",
                                         " ",
                                         "(",
                                         ")",
                                         "a(",
                                         "a)",
                                         "a(b",
                                         "a(b=",
                                         "a(b=)",
                                         "a(=1)",
                                         "a(b=1",
                                         "a(b=1,",
                                         "a(b=1,)",
                                         "a(,b=1)",
                                         "a(b==1)",
                                         "a(b=1)c",
                                         "a(b=1))",
                                         "a b",
                                         "a(b=[1)",
                                         "a(b=[1,])",
                                         "a(b=[,1])",
                                         "a(b=[",
                                         "a(b='x)",
                                         "a(b=\"x')",
                                         "'a'",
                                         "[1]",
                                         "a(b=1 2)",
                                         "a(b=1)(c)",
                                         "a(b=1,b=2)",
                                         "a(b={x=1})",
                                         "a,b",
                                         "a=1",
                                         "a(b c=1)",
                                         "\n\t",
                                         "a(b='it's')",
                                         "a(b=(1))",
                                         "\xff\xfe",
                                         "a(b=\xc3)",
                                         "a(\"b\"=1)",
                                         "a;b",
                                         "a(b=$HOME)",
                                         "a(b=!)",
                                         "a(b=#)",
                                         "a(b=1;c=2)",
                                         std::string("a\0b", 3),
                                         std::string("a(b=\0)", 6)};
  for (const std::string& text : garbage) {
    const std::string said = spec_message([&] { Spec spec{text}; });
    EXPECT_FALSE(said.empty()) << "accepted: " << text;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(Spec, EveryPrefixAndEveryDeletionOfAGoodSpecIsReadOrRefused) {
  const std::string good =
      "warmup(epochs=4, from=[1, 'x''y'], then=piecewise(boundaries=[32, 64], on=true, e=-1.5e-3))";
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (std::string text : {good.substr(0, i), std::string(good).erase(i, 1), std::string(good).insert(i, ")")}) try {
        EXPECT_EQ(Spec(Spec(text).str()), Spec(text)) << text;
      } catch (const UsageError&) {
      }
  }
}

TEST(Spec, NestingHasALimit) {
  const auto nested = [](int levels) {
    std::string text = "a(b=";
    for (int i = 1; i < levels; ++i) text += i % 2 ? "[" : "x(y=";
    text += "1";
    for (int i = levels - 1; i >= 1; --i) text += i % 2 ? "]" : ")";
    return text + ")";
  };
  EXPECT_NO_THROW(Spec{nested(max_nesting)});
  EXPECT_THROW(Spec{nested(max_nesting + 1)}, UsageError);
  EXPECT_THROW(Spec{nested(200000)}, UsageError);
  EXPECT_LT(spec_message([&] { Spec{nested(200000)}; }).size(), 400u);
}

TEST(Args, ReadsWithDefaultsAndReportsWhatIsInForce) {
  Args args(Spec("adam(lr=1, name='x y', sizes=3, rates=[1, 0.5], inner=relu(a=2))"), "optimizer");
  EXPECT_EQ(args.real("lr"), 1.0);
  EXPECT_EQ(args.real("lr", 7), 1.0);
  EXPECT_EQ(args.real("beta", 0.9), 0.9);
  EXPECT_EQ(args.integer("lr", 5), 1);
  EXPECT_EQ(args.integer("steps", 5), 5);
  EXPECT_EQ(args.text("name"), "x y");
  EXPECT_EQ(args.text("other", "z"), "z");
  EXPECT_EQ(args.integers("sizes", {}), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(args.reals("rates", {}), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(args.reals("none", {2}), (std::vector<double>{2}));
  EXPECT_EQ(args.spec("inner"), Spec("relu(a=2)"));
  EXPECT_EQ(args.spec("more", "tanh"), Spec("tanh"));
  EXPECT_EQ(args.flag("on", true), true);
  EXPECT_EQ(args.one_of("form", "tf", {"tf", "paper"}), "tf");
  EXPECT_TRUE(args.has("name"));
  EXPECT_FALSE(args.has("beta"));
  EXPECT_NO_THROW(args.finish());
  EXPECT_EQ(args.resolved().str(),
            "adam(lr=1, beta=0.9, steps=5, name='x y', other='z', sizes=[3], rates=[1.0, 0.5], none=[2.0], "
            "inner=relu(a=2), more=tanh, on=true, form=tf)");
  args.record("more", Spec("tanh(slope=1)"));
  EXPECT_EQ(args.resolved().find("more")->str(), "tanh(slope=1)");
}

TEST(Args, QuotedTextServesAsSpec) {
  Args args(Spec("x(model='net(size=32)', bad='net(')"), "thing");
  EXPECT_EQ(args.spec("model"), Spec("net(size=32)"));
  EXPECT_EQ(spec_message([&] { args.spec("bad"); }),
            "thing 'x': bad = 'net(': expected a word at position 5 (a Spec is written name(key=value, ...))");
}

TEST(Args, WrongKindsAreRefused) {
  Args args(Spec("x(word=abc, number=1.5, flag=true, list=[1, a], huge=1e300)"), "thing");
  EXPECT_EQ(spec_message([&] { args.integer("word"); }), "thing 'x': word = abc is not a whole number");
  EXPECT_EQ(spec_message([&] { args.integer("number"); }), "thing 'x': number = 1.5 is not a whole number");
  EXPECT_EQ(spec_message([&] { args.integer("huge"); }), "thing 'x': huge = 1e+300 is not a whole number");
  EXPECT_EQ(spec_message([&] { args.real("word", 1); }), "thing 'x': word = abc is not a number");
  EXPECT_EQ(spec_message([&] { args.real("flag"); }), "thing 'x': flag = true is not a number");
  EXPECT_EQ(spec_message([&] { args.flag("number", false); }), "thing 'x': number = 1.5 is not true or false");
  EXPECT_EQ(spec_message([&] { args.spec("number"); }), "thing 'x': number = 1.5 is not a name(key=value, ...)");
  EXPECT_EQ(spec_message([&] { args.integers("list", {}); }),
            "thing 'x': list = [1, a] is not a list of whole numbers");
  EXPECT_EQ(spec_message([&] { args.reals("list", {}); }), "thing 'x': list = [1, a] is not a list of numbers");
  EXPECT_EQ(spec_message([&] {
              args.one_of("word", "tf", {"tf", "paper"});
            }),
            "thing 'x': word = abc is not one of tf, paper");
  EXPECT_EQ(spec_message([&] { args.integer("absent"); }), "thing 'x': argument 'absent' (whole number) is missing");
  ASSERT_TRUE(args.missing());
  EXPECT_EQ(args.missing()->key, "absent");
  EXPECT_EQ(spec_message([&] { args.require(false, "word must be longer"); }),
            "thing 'x': word must be longer (x(word=abc, number=1.5, flag=true, list=[1, a], huge=1e+300))");
}

TEST(Args, FinishNamesTheNearestArgument) {
  Args args(Spec("adam(beta=0.9)"), "optimizer");
  args.real("beta1", 0.9);
  args.real("lr", 0.1);
  EXPECT_EQ(spec_message([&] { args.finish(); }), "optimizer 'adam': unknown argument 'beta' (did you mean 'beta1'?)");
  Args nothing(Spec("relu(x=1)"), "operator");
  EXPECT_EQ(spec_message([&] { nothing.finish(); }), "operator 'relu': unknown argument 'x'; none is known");
}

TEST(Args, SectionsSpeakOfTheirPath) {
  const Spec data("data", {{"batch", 4}, {"fils", "x"}});
  Args root(Spec("recipe", {{"train", Spec("train", {{"epoch", 3}, {"data", data}})}, {"model", "net"}}), "recipe");
  Args train = root.section("train");
  train.integer("epochs", 10);
  Args nested = train.section("data");
  nested.text("files", "");
  EXPECT_EQ(nested.integer("batch", 1), 4);
  EXPECT_EQ(spec_message([&] { train.finish(); }), "section 'train': unknown key 'epoch' (did you mean 'epochs'?)");
  EXPECT_EQ(spec_message([&] { nested.finish(); }), "section 'train.data': unknown key 'fils' (did you mean 'files'?)");
  EXPECT_EQ(spec_message([&] { nested.real("rate"); }), "section 'train.data': key 'rate' (number) is missing");
  EXPECT_EQ(spec_message([&] { root.finish(); }), "recipe: unknown key 'model'; known: train");
  EXPECT_EQ(spec_message([&] { root.section("model"); }),
            "recipe: model = 'net' is not a section: write [model] above its keys");
  Args absent = root.section("report");
  EXPECT_EQ(absent.integer("every", 5), 5);
  EXPECT_NO_THROW(absent.finish());
}

}  // namespace
}  // namespace isobar
