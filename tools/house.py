# What the checks share: the files of the tree, C++ without comments, and how problems are reported.
# A check is a function from the root of a tree to a list of problems; run() turns it into a program.
import re
import sys
from fnmatch import fnmatch
from pathlib import Path


def files(root):
    """Every file git would track, sorted: all except .git and what .gitignore names."""
    ignore = root / ".gitignore"
    patterns = ignore.read_text().split() if ignore.exists() else []

    def ignored(path):
        relative = "/" + path.relative_to(root).as_posix() + ("/" if path.is_dir() else "")
        return path.name == ".git" or any(
            fnmatch(relative, pattern if pattern.startswith("/") else "*/" + pattern) for pattern in patterns
        )

    def walk(folder):
        for path in sorted(folder.iterdir()):
            if ignored(path):
                continue
            if path.is_dir():
                yield from walk(path)
            else:
                yield path

    return list(walk(root))


def sources(root, *folders):
    """The C++ files under the named folders."""
    return [
        path
        for path in files(root)
        if path.suffix in (".cpp", ".hpp") and path.relative_to(root).parts[0] in folders
    ]


def rooms(root):
    """The non-empty folders of isobar/, as {name: its C++ files}."""
    found = {}
    for path in sources(root, "isobar"):
        parts = path.relative_to(root).parts
        if len(parts) > 2:
            found.setdefault(parts[1], []).append(path)
    return found


def without_comments(text):
    """C++ with comments blanked and line numbers kept; quoted text stays."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


TYPE_HEAD = re.compile(r"^(?:template <.*> )?(class|struct|enum class|enum) (?:alignas\(\w+\) )?(\w+)\b[^;()]*\{", re.M)


def types(text):
    """The types a file defines outside other types and unnamed namespaces, as [(kind, name, line, body)]."""
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', without_comments(text))
    code = re.sub(r"^namespace \{\n.*?^\}", lambda m: re.sub(r"[^\n]", " ", m[0]), code, flags=re.M | re.S)
    found = []
    for head in TYPE_HEAD.finditer(code):
        depth, end = 1, head.end()
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        found.append((head[1], head[2], code.count("\n", 0, head.start()) + 1, code[head.end() : end - 1]))
    return found


def row_definitions(text):
    """The constants a source defines at the beginning of a line, as [(type, name)]: rows are among them."""
    pattern = r"^(?:extern\s+)?(?:constinit\s+)?const\s+([\w:<>]+)\s+(\w+)\s*[={]"
    return re.findall(pattern, without_comments(text), flags=re.M)


def row_declarations(text):
    """The rows a catalogue takes from other files, as [(type, name, file its comment names or "")]."""
    pattern = r"^extern\s+const\s+([\w:<>]+)\s+(\w+)\s*;[ \t]*(?://\s*(\w+\.cpp))?"
    own = row_definitions(text)
    return [found for found in re.findall(pattern, text, flags=re.M) if found[:2] not in own]


def row_types(texts):
    """The types of rows among the sources of a room: those its catalogues declare, and any called ...Row."""
    types = {kind for text in texts for kind, _, _ in row_declarations(text)}
    return types | {kind for text in texts for kind, _ in row_definitions(text) if "Row" in kind}


def run(check):
    """Runs `check` on the tree given as argument (default: this one); exit code 1 if it finds problems."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    if not root.is_dir():
        sys.exit(f"{Path(sys.argv[0]).name}: no such folder: {root}")
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
