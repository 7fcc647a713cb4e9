"""Main script of the dashboard (`paretoken app`): the pages and what they share."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd  # noqa: F401 - before sessions start: two at once met it half imported
import streamlit as st

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(
        page_title="paretoken",
        page_icon=str(HERE / "icon.png"),  # a file of ours: an icon by name is fetched from afar
        layout="wide",
        initial_sidebar_state="auto",
    )
    # Not in a folder called `pages`: Streamlit runs what lies there by itself, a deep link first.
    explore = st.Page("views/explore.py", title="Explore", icon=":material/tune:", default=True)
    compare = st.Page("views/compare.py", title="Compare", icon=":material/compare_arrows:")
    calibration = st.Page(
        "views/calibration.py", title="Calibration", icon=":material/straighten:"
    )
    page = st.navigation([explore, compare, calibration], position="top")
    page.run()
    _follow_the_theme()


@st.fragment(run_every=3)
def _follow_the_theme() -> None:
    """Draw again when the browser turns light or dark: Streamlit itself reruns nothing then."""
    theme = st.context.theme.type
    if st.session_state.setdefault("theme", theme) != theme:
        st.session_state.theme = theme
        st.rerun()


def _claim_the_name_of_the_package() -> None:
    """Let `app` mean our package, and not this very file, whose folder Streamlit puts first.

    Streamlit changes the path of all sessions whenever one of them runs, so the path is not
    relied upon: the package is loaded by its place.
    """
    root = HERE.parents[1]
    sys.path[:] = [str(root), *(entry for entry in sys.path if Path(entry) not in {root, HERE})]
    if not hasattr(sys.modules.get("app"), "__path__"):
        folder = root / "app"
        spec = spec_from_file_location(
            "app", folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{folder} holds no package")
        package = module_from_spec(spec)
        spec.loader.exec_module(package)
        sys.modules["app"] = package


_claim_the_name_of_the_package()
main()
