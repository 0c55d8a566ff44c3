"""The HTML report in a real browser: it draws without complaint, and answers mouse and keys."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import zlib
from contextlib import contextmanager
from dataclasses import replace

import html_records as records
import pytest

from launchlens.kernel_names import short_names
from launchlens.records.figures import KernelRow
from launchlens.records.timeline import Lane, Span
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
def browser(profile, width=1280, *, scheme="light", touch=False, height=900):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
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
    slower = KernelRow(NAME, 3400, 7_100_000, 2000, 0.21)
    captured = replace(made.candidates[0], kernels=(made.baseline.kernels[0], slower))
    made = replace(made, candidates=(captured, made.candidates[1]))
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
    def marks(plot, selector):
        return len(page.find_elements("css selector", f"#{plot} {selector}"))

    # Sides × categories, less what is unknown or nothing: see html_records.
    assert marks("idle-0", ".bar-stack > span") == 3 * 7 - 1
    assert marks("gap-count", ".upright-groups i") == 3 * 6
    assert marks("changes-1", ".bar-line i") == 1  # GEMM took the same time
    assert marks("calls", ".bar-line i") == 3 * 4


def test_bars_are_as_long_as_their_values(page):
    """The parts of a stack, in pixels, are in the proportion of the record's nanoseconds."""
    script = (
        "return [...document.querySelector('#idle-0 .bar-row:last-child').querySelectorAll("
        "'.bar-stack > span')].map((e) => e.getBoundingClientRect().width)"
    )
    busy, host, launch = page.execute_script(script)[:3]
    assert host / busy == pytest.approx(51_000_000 / 10_832_400, rel=0.02)
    assert launch / busy == pytest.approx(7_900_000 / 10_832_400, rel=0.02)


def test_the_timeline_draws_few_marks_for_many_spans(page):
    """20,000 spans: one path a side and colour, with corners bounded by pixels, not by spans."""
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
    tip = page.find_element("css selector", ".tip")
    assert tip.is_displayed()
    assert tip.find_element("css selector", "b").text == short_names([NAME])[NAME]
    assert tip.find_element("css selector", "small").text == NAME
    assert "1.900 µs" in tip.text
    assert "kernel · GPU 0, stream 7 · eager" in tip.text
    ActionChains(page).click().perform()
    status = page.find_element("css selector", ".timeline-status")
    assert NAME in status.text
    assert not page.find_elements("css selector", ".tip img, .timeline-status img")
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


def outlined(driver, style):
    """Left edges and lanes' tops of what is outlined in a style, and how many lines join it."""
    return driver.execute_script(
        "const all = [...document.querySelectorAll('.timeline-outlines .' + arguments[0])];"
        "return {rects: all.filter((e) => e.tagName === 'rect').length,"
        " lines: all.filter((e) => e.tagName === 'path').length}",
        style,
    )


def test_a_kernel_is_outlined_with_its_launch_and_a_launch_with_its_kernel(page):
    page.execute_script("document.querySelector('[data-act=all]').click()")
    box = page.find_element("css selector", "input[type=search]")
    box.clear()
    box.send_keys("rotary", Keys.ENTER)
    status = page.find_element("css selector", ".timeline-status")
    assert "submitted by cudaLaunchKernel, 7.000 µs earlier" in status.text
    page.find_element("css selector", "[data-act=selected]").click()
    # The kernel, its call and the gap before it; a line from the call to the kernel.
    assert outlined(page, "selected") == {"rects": 3, "lines": 1}
    page.find_element("css selector", "[data-act=linked]").click()
    assert status.text.startswith("cudaLaunchKernel")
    assert "submitted rotary_kernel, which began 7.000 µs later" in status.text
    low, high = view(page)
    # Kernels start at 90 µs + 17 µs × i, the first rotary kernel is i = 3 (html_records).
    call = 90_000 + 17_000 * 3 - 7000
    at_lane(page, "CPU thread 4711", (call + 2000 - low) / (high - low))
    assert "submitted rotary_kernel" in page.find_element("css selector", ".tip").text
    assert outlined(page, "pointed") == {"rects": 3, "lines": 1}
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    page.execute_script("document.querySelector('[data-act=all]').click()")


def test_a_graph_launch_is_outlined_with_all_it_submitted(page):
    box = page.find_element("css selector", "input[type=search]")
    box.clear()
    box.send_keys("cudaGraphLaunch", Keys.ENTER)
    status = page.find_element("css selector", ".timeline-status").text
    assert "submitted 5000 operations, the first 70.000 µs later" in status
    assert outlined(page, "selected")["rects"] == 3
    box.clear()


def test_a_side_that_is_fast_fills_the_width_on_its_own_axis(page):
    page.execute_script("document.querySelector('[data-act=all]').click()")
    button = page.find_element("css selector", "[data-act=axes]")
    assert button.get_attribute("aria-pressed") == "false"
    script = (
        "const r = [...document.querySelectorAll('.timeline-plot .fills path')].map("
        " (e) => e.getBoundingClientRect()).filter((r) => r.width);"
        "const low = Math.max(...r.map((e) => e.bottom));"
        "return r.filter((e) => e.bottom > low - 150).map((e) => e.width)"
    )
    shared = max(page.execute_script(script))
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    whole = plot(page).size["width"] - 20
    assert shared < whole * 0.3
    assert max(page.execute_script(script)) > whole * 0.95
    texts = [e.text for e in page.find_elements("css selector", ".timeline-plot .annotation-text")]
    assert sum(text == "0" for text in texts) == 2  # an axis a side
    button.click()


def test_lanes_that_say_nothing_are_folded_until_asked_for(tmp_path):
    """A range around the whole step is all that the lane of ranges holds."""
    line = records.timeline("eager", 50, 9000, 2000)
    around = Lane("NVTX ranges", "range", (Span("prefill", 0, line.window_ns, "range"),))
    lanes = tuple(around if lane.role == "range" else lane for lane in line.lanes)
    path = tmp_path / "report.html"
    made = comparison_document(records.comparison(), [replace(line, lanes=lanes)])
    path.write_text(write_page(made), "utf-8")

    def titles(driver):
        found = driver.find_elements("css selector", ".timeline-plot .annotation-text")
        return [e.text for e in found]

    with browser(tmp_path / "profile") as driver:
        show(driver, path)
        assert "NVTX ranges" not in titles(driver)
        button = driver.find_element("css selector", "[data-act=lanes]")
        assert button.text == "All lanes (+1)"
        button.click()
        assert "NVTX ranges" in titles(driver)
        button.click()
        assert "NVTX ranges" not in titles(driver)
        box = driver.find_element("css selector", "input[type=search]")
        box.send_keys("prefill", Keys.ENTER)  # what is found is shown
        assert "NVTX ranges" in titles(driver)


def test_tab_reaches_the_timeline_and_all_that_can_be_pressed(page):
    """From the first button on, each Tab goes to the next control, then to the plot."""
    page.execute_script("document.querySelector('[data-act=in]').focus()")
    reached = []
    for _ in range(14):
        reached.append(
            page.execute_script(
                "const e = document.activeElement;"
                "return e.dataset.act || e.type || e.className || e.tagName"
            )
        )
        ActionChains(page).send_keys(Keys.TAB).perform()
    expected = ["in", "out", "left", "right", "all", "axes", "search"]
    assert [name for name in reached if name in expected] == expected
    assert any("timeline-plot" in name for name in reached)
    intervals = page.find_element("css selector", ".toggle input")
    page.execute_script("arguments[0].focus()", intervals)
    hidden = page.find_elements("css selector", "section:not(.glance) td .interval")
    ActionChains(page).send_keys(Keys.SPACE).perform()
    assert intervals.is_selected()
    ActionChains(page).send_keys(Keys.SPACE).perform()
    assert not any(e.is_displayed() for e in hidden)


def test_keyboard_walks_over_spans_and_lanes(page):
    page.execute_script("arguments[0].focus()", plot(page))
    ActionChains(page).send_keys(Keys.HOME, *[Keys.ARROW_UP] * 9, *[Keys.ARROW_DOWN] * 2).perform()
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
            "return [s(document.querySelector('.timeline-plot .annotation text')).fill,"
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
        points = "return document.querySelectorAll('.plot .point').length"
        assert driver.execute_script(points) == 3
        assert len({zlib.crc32(row) for row in screenshot(driver)}) > 100


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("candidates", [1, 2])
def test_the_first_screen_holds_sentence_cards_and_bars(tmp_path, width, height, candidates):
    """Whole, in this order, and the timeline comes next: nobody has to scroll for the answer."""
    made = replace(records.comparison(candidates=candidates), differences=(), notes=())
    path = tmp_path / "report.html"
    path.write_text(write_page(comparison_document(made, records.timelines(500))), "utf-8")
    with browser(tmp_path / "profile", width, touch=width < 600, height=height) as driver:
        show(driver, path)
        places = driver.execute_script(
            "return ['.about', '.lead', '.cards', '#idle-0', '.timeline', 'table:not(figure *)']"
            ".map((s) => document.querySelector(s).getBoundingClientRect())"
            ".map((r) => [r.top, r.bottom])"
        )
        tops = [top for top, _ in places]
        assert tops == sorted(tops)
        bars = places[3]
        assert bars[1] <= height
        chips = driver.find_elements("css selector", ".card .chip.better")
        assert len(chips) == 4
        ground = driver.execute_script(
            "return getComputedStyle(document.querySelector('.card .chip')).backgroundColor"
        )
        red, green, blue = map(int, ground[4:-1].split(", "))
        assert green > max(red, blue)


CONTRAST = r"""
const luminance = (c) => {
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = c.map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const parse = (text) => {
  const parts = text.match(/[\d.]+/g).map(Number);
  return [parts.slice(0, 3), parts.length > 3 ? parts[3] : 1];
};
const over = ([top, alpha], below) => top.map((v, i) => v * alpha + below[i] * (1 - alpha));
const ground = (e) => {
  if (!e) return [255, 255, 255];
  const [colour, alpha] = parse(getComputedStyle(e).backgroundColor);
  return alpha === 1 ? colour : over([colour, alpha], ground(e.parentElement));
};
document.querySelectorAll('details').forEach((e) => { e.open = true; });
const found = [];
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  const box = e.getBoundingClientRect();
  if (!box.width || e.closest('[hidden], script, noscript, button:disabled, .unseen')) continue;
  const style = getComputedStyle(e);
  const svg = e.namespaceURI.endsWith('svg');
  const below = ground(svg ? e.closest('div') : e);
  const ink = over(parse(svg ? style.fill : style.color), below);
  const [a, b] = [luminance(ink), luminance(below)].sort((x, y) => y - x);
  const ratio = Math.round((a + 0.05) / (b + 0.05) * 100) / 100;
  found.push([ratio, e.className.baseVal ?? e.className, e.textContent.slice(0, 40)]);
}
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(report, tmp_path, scheme):
    """WCAG's contrast of 4.5 to 1, computed for each element that holds text."""
    with browser(tmp_path, scheme=scheme) as driver:
        show(driver, report)
        # Names inside spans of the timeline lie on drawn colours: test_html_figures has those.
        found = [one for one in driver.execute_script(CONTRAST) if "textpoint" not in str(one[1])]
        assert len(found) > 300
        assert [one for one in found if one[0] < 4.5] == []


def test_on_paper(report, tmp_path):
    with browser(tmp_path) as driver:
        show(driver, report)
        driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        widths = driver.execute_script(
            "return [...document.querySelectorAll('.timeline-plot')].map("
            "  (e) => e.querySelector('.main-svg').clientWidth)"
        )
        assert widths
        assert max(widths) <= 680
        pdf = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
        assert len(base64.b64decode(pdf)) > 50_000
