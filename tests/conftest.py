"""Fixtures that any test may use, and the settings of the property tests."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# No deadline: how long one example takes depends on the machine, and speed has its own benchmark.
settings.register_profile("explore", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of measured data that is not distributed with paretoken: traces, serving runs."""
    folder = Path(os.environ.get("PARETOKEN_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no measured data at {folder}; set PARETOKEN_SHARED to its folder")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Path of a Chromium that Playwright can drive."""
    named = os.environ.get("PARETOKEN_CHROMIUM")
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        missing = f"no browser: none of {', '.join(names)} on the path; apt-get install chromium"
        if os.environ.get("PARETOKEN_REQUIRE_CHROMIUM"):
            pytest.fail(missing)
        pytest.skip(missing)
    return Path(found)
