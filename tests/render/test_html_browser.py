"""The HTML report in a real browser: it draws without complaint, and answers mouse and keys."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import zlib
from contextlib import contextmanager

import html_records as records
import pytest

from launchlens.render.html.page import write_page
from launchlens.report.comparison import comparison_document
from launchlens.report.trend import trend_document

pytestmark = pytest.mark.browser

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
if not (shutil.which("chromium") and shutil.which("chromedriver")):
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-dev-shm-usage "
    "--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars"
)
NAME = "void hostile<b>kernel</b><img src=x onerror=alert(1)>(int)"


@contextmanager
def browser(profile, width=1280, *, scheme="light", touch=False):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": touch}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        if touch:
            driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        yield driver
    finally:
        driver.quit()


def show(driver, path):
    driver.get(path.as_uri())
    script = "return document.documentElement.dataset.ready"
    WebDriverWait(driver, 30).until(lambda d: d.execute_script(script) == "yes")


def screenshot(driver) -> list[bytes]:
    """The visible page as rows of RGB(A) bytes, from Chromium's PNG (8 bit, not interlaced)."""
    png = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
    width, height, _, colour = struct.unpack(">IIBB", png[16:26])
    at, packed = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            packed += png[at + 8 : at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = width * (4 if colour == 6 else 3) + 1
    return [raw[i * stride : (i + 1) * stride] for i in range(height)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    made = records.comparison(name=NAME)
    lines = [
        records.timeline("eager", 5000, 17_000, 1900, name=NAME),
        records.timeline("cudagraph", 5000, 3000, 1900, graph=True, name=NAME),
    ]
    path.write_text(write_page(comparison_document(made, lines)), "utf-8")
    return path


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        show(driver, report)
        yield driver


def view(driver) -> list[float]:
    text = driver.execute_script("return document.getElementById('timeline').dataset.view")
    return [float(part) for part in text.split()]


def plot(driver):
    return driver.find_element("css selector", ".timeline-plot")


def at_lane(driver, title, share):
    """The pointer over a lane, at a share of the timeline's width."""
    element = plot(driver)
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    top, height, width = driver.execute_script(
        "const r = arguments[0].getBoundingClientRect();"
        "const t = [...arguments[0].querySelectorAll('.annotation-text')].find("
        "  (e) => e.textContent.startsWith(arguments[1])).getBoundingClientRect();"
        "return [t.top - r.top, r.height, r.width]",
        element,
        title,
    )
    x, y = int((share - 0.5) * (width - 20)), int(top + 24 - height / 2)
    ActionChains(driver, duration=20).move_to_element_with_offset(element, x, y).perform()


def test_no_console_message_and_no_request_but_for_the_file(page, report):
    assert [e for e in page.get_log("browser") if e["level"] in ("SEVERE", "WARNING")] == []
    events = [json.loads(e["message"])["message"] for e in page.get_log("performance")]
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    ours = [p["request"]["url"] for p in sent if p["documentURL"] == report.as_uri()]
    assert ours == [report.as_uri()]


def test_every_plot_is_drawn_with_its_marks(page):
    bars = page.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.plot')].map("
        "  (e) => [e.id, e.querySelectorAll('.bars .point path').length]))"
    )
    # Sides × categories, less what is unknown: see html_records.
    assert bars["idle-0"] == 3 * 7
    assert bars["times-0"] == 3 * 3
    assert bars["gap-count"] == 3 * 6
    assert bars["kernels"] == 3 * 2
    assert all(bars.values())


def test_the_timeline_draws_few_marks_for_many_spans(page):
    """20,000 spans: one path a lane and kind, its corners bounded by the pixels, not the spans."""
    paths = page.execute_script(
        "return [...document.querySelectorAll('.timeline-plot .fills path')].map("
        "  (e) => e.getAttribute('d').split('M').length - 1).filter((n) => n > 0)"
    )
    assert 8 <= len(paths) <= 12
    assert max(paths) <= 2 * 1280  # columns of two pixels over twice the width, three kinds
    assert sum(paths) < 12_000


def test_hover_shows_the_whole_name_as_text(page):
    page.execute_script("document.querySelector('[data-act=all]').click()")
    for _ in range(7):
        page.execute_script("document.querySelector('[data-act=in]').click()")
    low, high = view(page)
    # Kernels start at 90 µs + 17 µs × i; i % 4 == 1 has the hostile name (html_records).
    starts = [90_000 + 17_000 * i for i in range(5000) if i % 4 == 1]
    start = next(s for s in starts if s > low + (high - low) / 4)
    at_lane(page, "GPU 0, stream 7", (start + 900 - low) / (high - low))
    tip = page.find_element("css selector", ".timeline-tip")
    assert tip.is_displayed()
    assert tip.find_element("css selector", "b").text == NAME
    assert "1.900 µs" in tip.text
    assert "kernel · GPU 0, stream 7 · eager" in tip.text
    ActionChains(page).click().perform()
    status = page.find_element("css selector", ".timeline-status")
    assert status.text.startswith(NAME)
    assert not page.find_elements("css selector", ".timeline-tip img, .timeline-status img")
    page.find_element("css selector", "[data-act=selected]").click()
    low, high = view(page)
    assert low < start < start + 1900 < high
    assert high - low < 10_000  # one kernel fills most of the view


def test_zoom_goes_down_to_a_kernel_and_back(page):
    page.execute_script("document.querySelector('[data-act=all]').click()")
    whole = view(page)
    element = plot(page)
    drag = ActionChains(page, duration=20).move_to_element_with_offset(element, -200, 0)
    drag.click_and_hold().move_by_offset(60, 3).move_by_offset(60, 0).release().perform()
    low, high = WebDriverWait(page, 5).until(lambda d: view(d) != whole and view(d))
    width = element.size["width"] - 20
    assert (high - low) / (whole[1] - whole[0]) == pytest.approx(120 / width, rel=0.05)
    page.execute_script("document.querySelector('[data-act=all]').click()")
    assert view(page) == whole


def test_keyboard_walks_over_spans_and_lanes(page):
    page.execute_script("arguments[0].focus()", plot(page))
    ActionChains(page).send_keys(Keys.HOME, Keys.ESCAPE).perform()
    status = page.find_element("css selector", ".timeline-status")
    ActionChains(page).send_keys(Keys.ARROW_RIGHT).perform()
    first = status.text
    ActionChains(page).send_keys(Keys.ARROW_RIGHT).perform()
    assert status.text != first
    ActionChains(page).send_keys(Keys.ARROW_DOWN).perform()
    assert "idle by cause" in status.text
    ActionChains(page).send_keys(Keys.ENTER).perform()
    low, high = view(page)
    assert high - low < 1_000_000
    ActionChains(page).send_keys(Keys.HOME).perform()


def test_search_finds_a_span_by_name(page):
    box = page.find_element("css selector", "input[type=search]")
    box.send_keys("rotary", Keys.ENTER)
    status = page.find_element("css selector", ".timeline-status")
    assert status.text.startswith("rotary_kernel")
    assert "(2500 spans match)" in status.text
    box.clear()
    box.send_keys("no such kernel", Keys.ENTER)
    assert "No span has" in status.text


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
)
def test_readable_at_desk_and_on_a_phone_light_and_dark(report, tmp_path, width, scheme):
    with browser(tmp_path, width, scheme=scheme, touch=width < 600) as driver:
        show(driver, report)
        assert [e for e in driver.get_log("browser") if e["level"] == "SEVERE"] == []
        # Nothing sticks out to the side: no sideways scrolling of the page.
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        for place in (".lead", ".timeline-plot", "#idle-0"):
            driver.execute_script(
                f"document.querySelector('{place}').scrollIntoView({{block: 'center'}})"
            )
            rows = screenshot(driver)
            assert len({zlib.crc32(row) for row in rows}) > 100, f"{place} looks blank"
        ink, ground = driver.execute_script(
            "const s = (e) => getComputedStyle(e);"
            "return [s(document.querySelector('#idle-0 .annotation text')).fill,"
            " s(document.body).backgroundColor]"
        )
        assert ink != ground
        assert (sum(map(int, ground[4:-1].split(", "))) < 200) == (scheme == "dark")


def test_a_trend_draws_a_point_for_each_run_that_has_the_figure(tmp_path):
    made = [
        records.trend([47_400_000, None, 46_000_000]),
        records.trend([4_670_000], variant="cudagraph"),
    ]
    path = tmp_path / "trend.html"
    path.write_text(write_page(trend_document(made)), "utf-8")
    with browser(tmp_path / "profile", 390, touch=True) as driver:
        show(driver, path)
        assert [e for e in driver.get_log("browser") if e["level"] in ("SEVERE", "WARNING")] == []
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
        points = "return document.querySelectorAll('.plot .scatterlayer .points path').length"
        assert driver.execute_script(points) == 3
        assert len({zlib.crc32(row) for row in screenshot(driver)}) > 100


def test_on_paper(report, tmp_path):
    with browser(tmp_path) as driver:
        show(driver, report)
        driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        widths = driver.execute_script(
            "return [...document.querySelectorAll('.plot, .timeline-plot')].map("
            "  (e) => e.querySelector('.main-svg').clientWidth)"
        )
        assert widths
        assert max(widths) <= 680
        pdf = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
        assert len(base64.b64decode(pdf)) > 50_000
