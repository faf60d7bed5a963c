"""Sphinx's settings: docs/ as a site that loads nothing from a network. `make site` builds it in out/site."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "aqmlab"
author = "the developers of aqmlab"
copyright = author
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "mathematics",
    "reference",
]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "aqmlab"
html_show_sphinx = False
smartquotes = False  # --set is an option
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
nb_execution_mode = "force"  # the notebooks are stored without outputs
nb_execution_raise_on_error = True
nb_execution_show_tb = True

napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"  # numpydoc names the types
autodoc_member_order = "bysource"
default_role = "code"
suppress_warnings = ["ref.python"]  # two modules of theory may use one name
