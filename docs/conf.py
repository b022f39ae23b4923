# Sphinx configuration of the documentation site: `make docs`.

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

project = "celltrain"
author = "The celltrain authors"
copyright = "The celltrain authors, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
# Typographic dashes would make `--set` in the text another word.
smartquotes = False

default_role = "code"  # docstrings write `names` as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"show-inheritance": False}
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "celltrain"
# The site works offline and asks nobody else for anything.
html_theme_options = {"footer_icons": []}
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_js_files = ["accessible.js"]

# `[text](lab:story=lost-cell)` opens the lab at what the fragment says; its page is copied beside these.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "lab": "../lab.html#{{path}}"}

_SECTION = re.compile(r"\w[\w ]*:")


def mark_code(app, what, name, thing, options, lines):
    """Makes literal blocks of what docstrings indent, as Markdown has it."""
    marked, inside = [], False
    for number, line in enumerate(lines):
        indented = line.startswith("    ")
        begins = indented and not inside and number and not lines[number - 1].strip()
        if begins:
            above = next((one for one in reversed(lines[:number]) if one.strip()), "")
            if not above.startswith(" ") and not _SECTION.fullmatch(above):
                marked += ["::", ""]
        if line.strip():
            inside = indented
        marked.append(line)
    lines[:] = marked


def copy_lab(app, failure):
    """Puts the lab beside the pages that link to it, or a word on how to get it."""
    if failure or app.builder.format != "html":
        return
    page = Path(app.srcdir).parent / "web" / "dist" / "index.html"
    word = "<!doctype html><title>celltrain lab</title><p>This site has no lab: run make lab, then make docs."
    content = page.read_text(encoding="utf-8") if page.is_file() else word
    (Path(app.outdir) / "lab.html").write_text(content, encoding="utf-8")


def setup(app):
    """Draws the pictures of the reference before its pages are read."""
    import pictures

    app.connect("builder-inited", lambda app: pictures.draw(Path(app.srcdir) / "reference" / "pictures"))
    app.connect("build-finished", copy_lab)
    app.connect("autodoc-process-docstring", mark_code, priority=100)  # before napoleon
