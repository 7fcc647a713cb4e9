"""A dashboard of our own, and a real Chromium to look at it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.serving import Dashboard, serving


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A dashboard that ends with the tests."""
    with serving(tmp_path_factory.mktemp("dashboard")) as started:
        yield started


@pytest.fixture(scope="session")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(chromium))
        yield opened
        opened.close()
