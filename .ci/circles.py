"""Modules of a crate that import each other in a circle.

A module is a file with all beneath it, and only neighbours are held against each other: the modules of one folder, and
those of each folder within. A module and the one around it are no circle, since what is inside a file is that file's
own.
A name counts as an import of the module that defines it, not of one that only hands it on.
"""
import re

# The tests of a module stand behind it.
TESTS = re.compile(r"^#\[cfg\(test\)\]", re.MULTILINE)
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? +)?mod +(\w+);", re.MULTILINE)
USE = re.compile(r"^( *)(pub(?:\([^)]*\))? +)?use +([^;]+);", re.MULTILINE)
INLINE = re.compile(r"(?<![\w:])\$?((?:crate|super)(?:::\w+)+)")
OPENED = re.compile(r"^( *)(?:pub(?:\([^)]*\))? +)?mod +(\w+) *\{", re.MULTILINE)


def leaves(tree, before=()):
    """The paths of a tree of `use`, each with the name that it gets; `*` of all names."""
    head, brace, inner = tree.strip().partition("{")
    path = (*before, *(part for part in re.split(r"::", head.strip().removesuffix("::")) if part))
    if not brace:
        *first, last = path or ("",)
        last, _, renamed = last.partition(" as ")
        whole = (*first,) if last == "self" else (*first, last.strip())
        yield whole, (renamed or (whole[-1] if whole else "")).strip()
        return
    depth, start, inner = 0, 0, inner.strip().removesuffix("}")
    for at, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if inner[start:at].strip():
                yield from leaves(inner[start:at], path)
            start = at + 1


class Crate:
    """The modules of a crate, what each calls by which name, and where each imports what."""

    def __init__(self, root, names, read):
        self.root = root
        self.texts = {}
        for name in names:
            text = read(name)
            tests = TESTS.search(text)
            self.texts[self.module(name)] = (name, COMMENT.sub("", text[: tests.start()] if tests else text))
        self.aliases = {module: dict(self.imported(module)) for module in self.texts}

    def module(self, name):
        """The path of a file's module: ("step", "fuse")."""
        path = name.removeprefix(self.root).removesuffix(".rs").split("/")
        return tuple(path[:-1] if path[-1] in ("mod", "lib", "main") else path)

    def scopes(self, module):
        """Every `use` and path of a file: at which character, in which inner modules, whether a `use`, what."""
        text = self.texts[module][1]
        opened = [(found.start(), len(found[1]), found[2]) for found in OPENED.finditer(text)]

        def around(at, indent):
            return tuple(
                name for start, depth, name in opened
                if start < at and depth < indent and not re.search(rf"^ {{{depth}}}\}}", text[start:at], re.MULTILINE)
            )

        for found in USE.finditer(text):
            yield found.start(), around(found.start(), len(found[1])), True, found[3]
        uses = [(found.start(), found.end()) for found in USE.finditer(text)]
        for found in INLINE.finditer(text):
            if not any(start <= found.start() < end for start, end in uses):
                indent = len(re.search(r"[^\n]*$", text[: found.start()])[0]) or 0
                yield found.start(), around(found.start(), indent), False, found[1]

    def imported(self, module):
        """The names that a file gives to what others define."""
        for _, inner, is_use, tree in self.scopes(module):
            for path, name in leaves(tree) if is_use and not inner else ():
                yield name, path

    def absolute(self, module, path, inner=()):
        """A path from the crate's root, or nothing of another crate's."""
        here = [*module, *inner]
        if path and path[0].lstrip("$") == "crate":
            return path[1:]
        if path and path[0] in ("super", "self"):
            rest = list(path)
            while rest and rest[0] in ("super", "self"):
                if rest.pop(0) == "super" and here:
                    here.pop()
            return (*here, *rest)
        if path and (*module, path[0]) in self.texts:
            return (*module, *path)
        return None

    def home(self, path, seen=()):
        """The module that defines what a path from the root leads to."""
        module = ()
        for at, part in enumerate(path):
            if (*module, part) in self.texts:
                module = (*module, part)
                continue
            target = self.aliases.get(module, {}).get(part)
            target = self.absolute(module, target) if target else None
            if target is not None and (module, part) not in seen:
                return self.home((*target, *path[at + 1:]), (*seen, (module, part)))
            break
        return module

    def edges(self):
        """(from, to, file:line) of all imports, of whole modules."""
        for module, (name, text) in self.texts.items():
            for at, inner, is_use, tree in self.scopes(module):
                for path, _ in leaves(tree) if is_use else [(tuple(tree.split("::")), "")]:
                    target = self.absolute(module, path, inner)
                    if target is not None:
                        yield module, self.home(target), f"{name}:{text[:at].count(chr(10)) + 1}"


def components(graph):
    """The strongly connected components of more than one node, by Tarjan."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in sorted(graph.get(node, ())):
            if after not in index:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], index[after])
        if low[node] == index[node]:
            at = stack.index(node)
            part = stack[at:]
            del stack[at:]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def circles(root, names, read):
    """A line for each circle of a crate: the folder, its modules in it, and an import of each into each other."""
    levels = {}
    for source, target, place in Crate(root, names, read).edges():
        shared = 0
        while shared < min(len(source), len(target)) and source[shared] == target[shared]:
            shared += 1
        if shared < min(len(source), len(target)):
            imports = levels.setdefault(source[:shared], {}).setdefault(source[shared], {})
            imports.setdefault(target[shared], place)
    for folder, graph in sorted(levels.items()):
        for part in components(graph):
            arrows = [
                f"{one} > {other} ({graph[one][other]})"
                for one in part for other in part if other in graph.get(one, ())
            ]
            yield f"{root}{'/'.join(folder)}: {', '.join(part)}: {'; '.join(arrows)}"
