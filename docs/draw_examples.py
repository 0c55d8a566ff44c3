"""Draws docs/examples anew: the report of the recorded gemma-4-E4B run, as ``make examples`` does.

The run's answers and traces are those of tests/cli/recorded/gemma4 and traces/, replayed as
tests/cli/test_results_page.py does, so that neither a GPU nor nsys is needed; the picture is taken
by Chromium.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs/examples"
TRACES = {
    side: f"profile-gemma-4-e4b-{side}"
    for side in ("eager.node", "cudagraph.node", "cudagraph.graph")
}
PROFILE = ("profile", "-m", "gemma-4-E4B-it", "--rounds", "3")
SIZE = (1280, 1000)
"""Of the picture, in pixels: the first screen of a desk, and the whole timeline."""


def main() -> None:
    """Writes report.md, report.zip (the page, to download) and report.png."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        profile()
        launchlens("diff", "latest:eager", "latest:cudagraph", "--format", "markdown", "-o", "r.md")
        launchlens("diff", "latest:eager", "latest:cudagraph", "-o", "report.html")
        shutil.copy("r.md", EXAMPLES / "report.md")
        with zipfile.ZipFile(EXAMPLES / "report.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            page = zipfile.ZipInfo("launchlens-report.html", (2026, 1, 1, 0, 0, 0))
            page.compress_type, page.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(page, Path("report.html").read_bytes())
        (EXAMPLES / "report.png").write_bytes(picture(Path("report.html").resolve()))


def profile() -> None:
    """The run as it was recorded, in this folder."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/cli")]
    import pytest
    from replayed import Machine

    with pytest.MonkeyPatch.context() as patch:
        Machine("gemma4", TRACES).replace_processes(patch)
        launchlens(*PROFILE)


def launchlens(*arguments: str) -> None:
    """Types a command, which must succeed."""
    from launchlens.cli.main import main as program

    sys.argv = ["launchlens", *arguments]
    try:
        program()
    except SystemExit as end:
        if end.code:
            raise


def picture(page: Path) -> bytes:
    """The top of a page as PNG."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        width, height = SIZE
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(page.as_uri())
        ready = "return document.documentElement.dataset.ready"
        WebDriverWait(driver, 30).until(lambda d: d.execute_script(ready) == "yes")
        taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(taken["data"])
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
