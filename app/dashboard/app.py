"""Main script of the dashboard (`paretoken app`): the pages and what they share."""

import sys
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
    explore = st.Page("pages/explore.py", title="Explore", icon=":material/tune:", default=True)
    compare = st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:")
    calibration = st.Page(
        "pages/calibration.py", title="Calibration", icon=":material/straighten:"
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


# Streamlit puts this folder first on the path, and there `app` would mean this very file.
sys.path[:] = [str(HERE.parents[1]) if Path(entry) == HERE else entry for entry in sys.path]
main()
