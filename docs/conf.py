# Sphinx configuration of the documentation site: `make docs`.

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
