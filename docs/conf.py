"""How the documentation is built: `make docs`."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from api_pages import write_api_pages

from tacit import __version__

project = "tacit"
author = copyright = "The tacit developers"
version = release = __version__
extensions = ["myst_nb"]
html_theme = "pydata_sphinx_theme"
html_title = f"tacit {__version__}"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 2,
}
# Only the reference has pages below it: elsewhere the column would be empty, and code needs room.
html_sidebars = {"*": [], "papers/*": [], "notebooks/*": []}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]
nb_execution_mode = "force"
# Their data are not part of the project: the outputs are stored, and made by `tools/notebooks`.
nb_execution_excludepatterns = ["*.ipynb"]
nb_execution_timeout = 900  # of a cell, on a machine with much else to do
nb_execution_raise_on_error = True
# One style of words in all results that the pages show, whatever the reader's folder is.
os.environ.setdefault("TACIT_RESULTS", str(Path(__file__).parent / "_build" / "results"))

write_api_pages(Path(__file__).parent / "api")
