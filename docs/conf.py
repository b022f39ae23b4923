# Sphinx configuration of the documentation site: `make docs`.

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "celltrain"
author = "The celltrain authors"
copyright = "The celltrain authors, Apache-2.0"

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "celltrain"
# The site works offline and asks nobody else for anything.
html_theme_options = {"footer_icons": []}


def setup(app):
    """Draws the pictures of the reference before its pages are read."""
    import pictures

    app.connect("builder-inited", lambda app: pictures.draw(Path(app.srcdir) / "reference" / "pictures"))
