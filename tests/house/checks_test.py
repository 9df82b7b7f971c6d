# Shows that every house check can fail: a small clean tree passes all of them, and each change below makes the named
# check complain with the words given.
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"
CHECKS = sorted(path.name for path in TOOLS.glob("check_*"))

CLEAN = {
    ".gitignore": "/build*/\n",
    "build/junk.cpp": "TODO: ignored, as git ignores it\n",
    "CMakeLists.txt": "isobar_room(base)\nisobar_room(optim ROOMS base LIBRARIES fmt::fmt)\n",
    "tools/rooms.txt": "base:\noptim: base\ncli: optim\ncomm_mpi: base\ncomm_mpi owns mpi.h\n",
    "README.md": "Read `isobar/base/row.hpp`, `tests/<room>/`, [the map](docs/map.md).\n\n"
    "```\nls isobar/base/*.hpp\n```\n",
    "docs/map.md": "Back to [the start](../README.md) or [away](https://example.org/x).\n",
    "isobar/base/row.hpp": "// Rows.\n#pragma once\n#include <span>\n",
    "isobar/optim/catalogue.cpp": "// Rows.\n"
    '#include "isobar/base/row.hpp"\n'
    "extern const Row<Optimizer> adam;  // adam.cpp\n"
    "Table<Row<Optimizer>> optimizers() {\n"
    "  static constexpr const Row<Optimizer>* all[] = {&adam};\n"
    "  return all;\n"
    "}\n",
    "isobar/optim/adam.cpp": "// Adam. #include \"not/an/include.hpp\" in a comment\n"
    "extern const Row<Optimizer> adam;\n"
    "const Row<Optimizer> adam{};\n",
    "isobar/optim/rate.hpp": "// Rates.\n#pragma once\n#if defined(__AVX512F__) && FMT_VERSION > 90000\n#endif\n",
    "isobar/optim/rate.cpp": '#include "isobar/optim/rate.hpp"\n',
    "tests/optim/rate_test.cpp": '#include "isobar/optim/rate.hpp"\n',
    "tests/optim/adam_test.cpp": 'TEST(KnownAnswer, adam) {\n  EXPECT_EQ(after("adam(lr=1)"), 0);\n}\n',
    "tests/may_skip.txt": "optim.Any/Rate.*: cannot mount  # why\noptim.Fixture.One: variable X  # why\n",
    "tests/optim/skip_test.cpp": "class Fixture : public testing::Test {\n  void SetUp() { GTEST_SKIP(); }\n};\n"
    'TEST_F(Fixture, One) {}\nTEST_P(Rate, Falls) {\n  if (x) GTEST_SKIP() << "no";  // GTEST_SKIP is no word here\n}\n',
    "tests/optim/conformance_test.cpp": 'for (auto* row : optimizers()) {}  // may say /tmp/x\n',
}
CATALOGUE = CLEAN["isobar/optim/catalogue.cpp"]
SKIPS = CLEAN["tests/optim/skip_test.cpp"]
ANSWER = CLEAN["tests/optim/adam_test.cpp"]
NETWORK = {"isobar/zoo/lenet.cpp": '// Lenet.\nconst Row<Network> lenet{"lenet", made};\n'}
LENET = "tests/onnx/golden/networks/lenet.json"


def run(check, changes):
    """Output and exit code of a check over the clean tree with some files replaced (None: removed)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**CLEAN, **changes}.items():
            if text is not None:
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        done = subprocess.run(
            [sys.executable, "-B", TOOLS / check, folder], capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout + done.stderr, done.returncode


# (check, changed files, what it must say)
KEPT = "// Kept.\nnamespace {\n\nint once(int a) {\n  return a;\n}\n\n}  // namespace\n"
VIOLATIONS = [
    ("check_names", {"isobar/optim/rate.cpp": KEPT, "isobar/optim/adam.cpp": CLEAN["isobar/optim/adam.cpp"] + KEPT},
     "isobar/optim/rate.cpp:4: 'once' is in adam.cpp too"),
    ("check_names", {"isobar/optim/rate.cpp": KEPT.replace("int once(int a)", "struct Once"),
                     "isobar/optim/adam.cpp": CLEAN["isobar/optim/adam.cpp"] + KEPT.replace("int once(int a)", "struct Once")},
     "isobar/optim/rate.cpp:4: 'Once' is in adam.cpp too"),
    ("check_names", {"isobar/base/rate.hpp": "// Rates.\n#pragma once\n"}, "isobar/base/rate.hpp has the same name"),
    ("check_names", {"isobar/base/row.hpp": "// Rows.\n#pragma once\nstruct Step {\n  int n;\n};\n",
                     "isobar/optim/step.hpp": "// Steps.\n#pragma once\ntemplate <class T>\nclass Step final : public T {};\n"},
     "isobar/optim/step.hpp:4: isobar/base/row.hpp:3 defines a type 'Step' too"),
    ("check_layers", {"isobar/base/row.hpp": '// Rows.\n#pragma once\n#include "isobar/optim/rate.hpp"\n'},
     "isobar/base/row.hpp:3: base may not include optim"),
    ("check_layers", {"isobar/optim/rate.cpp": '#include "rate.hpp"\n'}, 'write #include "isobar/room/file.hpp"'),
    ("check_layers", {"isobar/optim/rate.cpp": "#include <isobar/optim/rate.hpp>\n"}, "isobar/room/file.hpp"),
    ("check_layers", {"isobar/optim/rate.cpp": '#include "isobar/optim/gone.hpp"\n'},
     "there is no isobar/optim/gone.hpp"),
    ("check_layers", {"isobar/optim/rate.cpp": "#include <mpi.h>\n"},
     "<mpi.h> may only be included in isobar/comm_mpi"),
    ("check_layers", {"isobar/attic/box.hpp": "// Box.\n#pragma once\n"}, "isobar/attic: has no row"),
    ("check_layers", {"isobar/cli/verb.hpp": "// Verb.\n#pragma once\n"}, "isobar/cli is not built"),
    ("check_layers", {"isobar/optim/deep/x.hpp": "// X.\n#pragma once\n"}, "sources lie in isobar/room/"),
    ("check_layers", {"CMakeLists.txt": "isobar_room(base ROOMS optim)\nisobar_room(optim ROOMS base)\n"},
     "isobar_room(base) links optim"),
    ("check_layers", {"tools/rooms.txt": "base: optim\noptim: base\n"}, "ring: base -> optim -> base"),
    ("check_layers", {"tools/rooms.txt": "base:\noptim: base tensor\n"}, "'tensor' is named but has no row"),
    ("check_layers", {"tools/rooms.txt": "base:\noptim: base\nwhat is this\n"}, "rooms.txt:3: neither"),
    ("check_catalogue", {"isobar/optim/adam.cpp": "// Adam.\n"}, "row 'adam' is declared but defined in no file"),
    ("check_catalogue", {"isobar/optim/sgd.cpp": "// Sgd.\nconst Row<Optimizer> sgd{};\n"},
     "row 'sgd' is in no catalogue"),
    ("check_catalogue", {"isobar/optim/catalogue.cpp": CATALOGUE.replace("{&adam}", "{}")},
     "row 'adam' is declared but not in the table"),
    ("check_catalogue", {"isobar/optim/catalogue.cpp": CATALOGUE.replace("adam.cpp", "eve.cpp")},
     "row 'adam' is said to be in eve.cpp, but is in adam.cpp"),
    ("check_catalogue", {"isobar/optim/verbs.cpp": "// Verbs.\nextern const Verb go_verb;\n"},
     "row 'go_verb' is declared"),
    ("check_tests", {"tests/optim/rate_test.cpp": None}, 'rate.cpp: no test includes "isobar/optim/rate.hpp"'),
    ("check_tests", {"tests/optim/rate_test.cpp": None, "isobar/optim/decay.cpp": '#include "isobar/optim/rate.hpp"\n'},
     'decay.cpp: no test includes "isobar/optim/rate.hpp"'),
    ("check_tests", {"tests/optim/conformance_test.cpp": None, "tests/optim/adam_test.cpp": None},
     "no test of tests/optim names 'adam'"),
    ("check_tests", {"tests/optim/conformance_test.cpp": "int adam;\n", "tests/optim/adam_test.cpp": None},
     "no test of tests/optim names 'adam'"),
    ("check_tests", {"isobar/optim/ramp.cpp": "// Ramp.\nconst RateRow rate_ramp{\"ramp\"};\n"},
     "no test of tests/optim names 'ramp'"),
    ("check_tests", {"tests/optim/CMakeLists.txt": "add_test(NAME x COMMAND true)\n"},
     "tests/optim/CMakeLists.txt:1: add_test makes a test without a place of its own; isobar_add_command_test does"),
    ("check_tests", {"cmake/room.cmake": "target_link_libraries(x GTest::gtest_main)\n"},
     "cmake/room.cmake:1: GTest::gtest_main makes a test without"),
    ("check_answers", {"tests/optim/adam_test.cpp": None},
     "isobar/optim/adam.cpp: 'adam' has no known answer: no TEST(KnownAnswer, adam) of tests/optim compares with it"),
    ("check_answers", {"tests/optim/adam_test.cpp": "// " + ANSWER.replace("\n", " ")}, "'adam' has no known answer"),
    ("check_answers", {"tests/optim/adam_test.cpp": None, "tests/zoo/adam_test.cpp": ANSWER},
     "'adam' has no known answer"),
    ("check_answers", {"tests/optim/adam_test.cpp": ANSWER.replace("EXPECT_EQ", "EXPECT_NO_THROW")},
     "'adam' has no known answer"),
    ("check_answers", {"tests/optim/adam_test.cpp": ANSWER.replace("adam(", "sgd(")},
     "tests/optim/adam_test.cpp: KnownAnswer.adam does not name 'adam'"),
    ("check_answers", {"tests/optim/adam_test.cpp": ANSWER + ANSWER.replace(", adam", ", adamw")},
     "KnownAnswer.adamw is called after no member of isobar/optim"),
    ("check_answers", NETWORK, f"'lenet' has no known answer: {LENET} has no case"),
    ("check_answers", {**NETWORK, LENET: '{"cases": []}'}, f"{LENET} has no case"),
    ("check_answers", {"isobar/tensor/laws.cpp": '// Laws.\nconstexpr Row<Initializer> uniform{"uniform", made};\n',
                       "tests/tensor/initializer_test.cpp": "// None.\n"},
     "'uniform' has no known answer: tests/tensor/initializer_test.cpp does not walk initializers()"),
    ("check_answers", {"isobar/tensor/halo.cpp": '// Halo.\nextern const OperatorRow halo{\n    "halo", "rows", made<H>, {}};\n'},
     "'halo' has no known answer: no TEST(KnownAnswer, halo) of tests/tensor compares with it"),
    ("check_answers", {"isobar/tensor/scale.cpp": '// S.\nextern const OperatorRow scale{"scale", "s", made<S>, {{"scale", {}}}};\n'},
     "'scale' has no known answer: tests/onnx/golden/operators/scale.json has no case"),
    ("check_docs", {"docs/map.md": "[start](READYOU.md)\n"}, "docs/map.md: links to READYOU.md"),
    ("check_docs", {"README.md": "See `isobar/base/gone.hpp`.\n"}, "README.md: names isobar/base/gone.hpp"),
    ("check_docs", {"README.md": "```sh\nisobar train examples/gone.toml\n```\n"}, "names examples/gone.toml"),
    ("check_docs", {"README.md": "`tests/optim/*_golden.txt`\n"}, "names tests/optim/*_golden.txt"),
    ("check_skips", {"tests/optim/a_test.cpp": "TEST(A, B) {\n  GTEST_SKIP();\n}\n"},
     "a_test.cpp:2: optim.A.B may skip itself, but tests/may_skip.txt does not list it"),
    ("check_skips", {"tests/optim/skip_test.cpp": SKIPS + "TEST_F(Fixture, Two) {}\n"}, "optim.Fixture.Two may skip"),
    ("check_skips", {"tests/comm_mpi/a_test.cpp": "TEST_P(A, B) { GTEST_SKIP(); }\n"}, "mpi.Any/A.B/any may skip"),
    ("check_skips", {"tests/skip.hpp": "inline void skip() { GTEST_SKIP(); }\n"}, "belongs into a test"),
    ("check_skips", {"tests/optim/skip_test.cpp": "TEST_P(Rate, Falls) { GTEST_SKIP(); }\n"},
     "no test that optim.Fixture.One names skips itself"),
    ("check_skips", {"tests/may_skip.txt": None}, "may_skip.txt"),
    ("check_skips", {"tests/may_skip.txt": "optim.A.B: whim  # why\n"}, "may_skip.txt:1: 'whim' is no condition"),
    ("check_skips", {"tests/optim/a_test.cpp": "TEST(A, B) {\n  if (!fs::exists(file)) return;\n}\n"},
     "a_test.cpp:2: ends in silence where !fs::exists(file)"),
    ("check_habits", {"isobar/optim/rate.hpp": "// R.\n#pragma once\n" + "int x;\n" * 400}, "402 lines"),
    ("check_habits", {"tools/string_utils.py": "x = 1\n"}, "a name that says nothing"),
    ("check_habits", {"isobar/optim/rate.hpp": "#pragma once\n"}, "opens with 0 lines"),
    ("check_habits", {"isobar/optim/adam.cpp": CLEAN["isobar/optim/adam.cpp"].partition("\n")[2]},
     "opens with 0 lines"),
    ("check_habits", {"isobar/optim/rate.hpp": "// R.\n" * 7 + "#pragma once\n"}, "opens with 7 lines"),
    ("check_habits", {"isobar/optim/rate.hpp": "// Rates.\n"}, "no #pragma once"),
    ("check_habits", {"isobar/optim/rate.cpp": "#ifdef HAVE_MPI\n#endif\n"}, "rate.cpp:1: #if on HAVE_MPI"),
    ("check_habits", {"isobar/optim/rate.cpp": "#if __has_include(<mpi.h>)\n#endif\n"}, "#if on __has_include"),
    ("check_habits", {"isobar/optim/rate.cpp": "int x;  // TODO later\n"}, "says TODO"),
    ("check_habits", {"docs/map.md": "Run `/home/me/isobar`.\n"}, "docs/map.md:1: names a path of one machine"),
    ("check_habits", {"bench/run.py": "#!/usr/bin/env " + "python3\nimport h5py\n"},
     "bench/run.py:1: takes whatever Python is first on the path"),
    ("check_habits", {"Makefile": "soak:\n\t" + "python3 tests/soak.py\n"},
     "Makefile:2: takes whatever Python is first on the path"),
    ("check_habits", {"tools/run.sh": "cd /tmp/build_me\n"}, "tools/run.sh:1: names a path of one machine"),
]


class Checks(unittest.TestCase):
    def test_the_clean_tree_passes(self):
        for check in CHECKS:
            with self.subTest(check):
                self.assertEqual(run(check, {}), ("", 0))

    def test_each_violation_is_found(self):
        for check, changes, words in VIOLATIONS:
            with self.subTest(check, says=words):
                output, code = run(check, changes)
                self.assertIn(words, output)
                self.assertEqual(code, 1)

    def test_a_member_may_be_tested_by_name(self):
        by_name = {"tests/optim/steps_test.cpp": 'make("adam(rate=1)");\n'}
        changes = {"tests/optim/conformance_test.cpp": None, **by_name}
        self.assertEqual(run("check_tests", changes), ("", 0))

    def test_a_known_answer_may_say_more_in_its_name_and_networks_have_golden_files(self):
        more = {"tests/optim/adam_test.cpp": ANSWER.replace(", adam", ", adam_of_one_step").replace("\n  ", " ")}
        self.assertEqual(run("check_answers", more), ("", 0))
        one_line = {"tests/optim/adam_test.cpp": 'TEST(KnownAnswer, adam) { expect_after("adam", 1); }\nint x;\n'}
        self.assertEqual(run("check_answers", one_line), ("", 0))
        self.assertEqual(run("check_answers", {**NETWORK, LENET: '{"cases": [1]}'}), ("", 0))

    def test_what_a_walked_member_includes_is_reached(self):
        member = CLEAN["isobar/optim/adam.cpp"] + '#include "isobar/optim/rate.hpp"\n'
        changes = {"tests/optim/rate_test.cpp": None, "isobar/optim/adam.cpp": member}
        self.assertEqual(run("check_tests", changes), ("", 0))

    def test_a_part_of_a_tested_piece_is_reached_but_not_the_part_of_a_part(self):
        part = {"isobar/optim/rate.cpp": '#include "isobar/optim/part.hpp"\n', "isobar/optim/part.cpp": ""}
        parts = {"isobar/optim/part.cpp": '#include "isobar/optim/deep.hpp"\n', "isobar/optim/deep.cpp": ""}
        self.assertEqual(run("check_tests", part), ("", 0))
        self.assertIn('deep.cpp: no test includes "isobar/optim/deep.hpp"', run("check_tests", {**part, **parts})[0])

    def test_every_check_is_shown_to_fail(self):
        self.assertEqual(CHECKS, sorted({check for check, _, _ in VIOLATIONS}))

    def test_a_tree_that_is_not_there_is_an_error(self):
        for check in CHECKS:
            command = [sys.executable, "-B", TOOLS / check, "no/such/tree"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no such folder", done.stderr)


if __name__ == "__main__":
    unittest.main()
