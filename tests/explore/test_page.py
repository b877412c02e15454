"""The page that explores a graph, as a file and in a real browser."""

import base64
import shutil

import numpy as np
import pytest

from bpgnn.errors import InputError
from bpgnn.explore.pack import pack
from bpgnn.explore.page import write_page
from bpgnn.explore.scene import BeforeAfter, Scene

pytest.importorskip("bokeh", reason="Bokeh is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NASTY = ["<script>alert(1)</script>", '"></div><img src=x onerror=alert(1)>', "</script>", "<b>"]


def test_the_file_is_written_whole_and_alone(small, tmp_path):
    path = write_page(Scene(**small), tmp_path / "new" / "page.html")
    assert path.read_text().endswith("</html>\n")
    assert base64.b64encode(pack(Scene(**small))).decode() in path.read_text()
    assert [one.name for one in path.parent.iterdir()] == ["page.html"]


def test_a_place_that_cannot_be_written_is_an_error_in_words(small, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="could not be written"):
        write_page(Scene(**small), tmp_path / "file" / "page.html")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Open scenes; in the end nothing must have been fetched, said or asked."""
    said, contexts = [], []

    def open_page(arrays, **window):
        path = tmp_path_factory.mktemp("explore") / "page.html"
        address = write_page(Scene(**arrays), path).as_uri()
        contexts.append(browser.new_context(**window))
        page = contexts[-1].new_page()
        for kind in ("console", "pageerror", "dialog"):
            page.on(kind, lambda event, kind=kind: said.append((kind, str(event))))
        page.on("request", lambda sent: said.append(sent.url) if sent.url != address else None)
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture(scope="module")
def desk(small, opened):
    return opened(small, **DESKTOP)


def touch(page, x, y):
    """Click on the map where a place of it is drawn."""
    left, top = page.evaluate(f"explorer.placeOf({x}, {y})")
    box = page.locator("#plot").bounding_box()
    page.mouse.click(box["x"] + left, box["y"] + top)


def plain(texts):
    """Put ordinary spaces where lines must not break."""
    return [text.replace("\u00a0", " ") for text in texts]


def lines_in(page, layer):
    return page.evaluate(f"explorer.view.model('{layer}').data.x.length / 3")


def test_nodes_and_edges_tell_what_they_are_when_touched(desk):
    page = desk
    page.get_by_role("button", name="Show the whole graph").click()
    chosen = page.locator("#selection")
    touch(page, 4, 0)
    chosen.get_by_role("heading", name="bee", exact=True).wait_for()
    (words,) = plain([chosen.inner_text()])
    assert all(one in words for one in ("insect", "mammal ✗ wrong", "60.0 %", "wings: 4"))
    rows = chosen.locator("#neighbours li")
    assert [row.split() for row in rows.all_inner_texts()] == [
        ["beetle", "added", "0.750", "why?"],
        ["ant", "kept", "0.500", "why?"],
    ]
    touch(page, 4, 1.5)
    chosen.get_by_role("heading", name="bee – beetle").wait_for()
    assert "100.0\u00a0% of the graphs" in chosen.inner_text()
    assert plain(chosen.locator("#witnesses li").all_inner_texts()) == [
        "ant, an observed neighbour of bee, resembles beetle (P = 0.875): 75.0 % of the evidence.",
        # Of the two ends, only the beetle is observed beside the cat.
        "cat, an observed neighbour of beetle, resembles bee (P = 0.500): 25.0 % of the evidence.",
    ]
    widths = chosen.locator("svg line").evaluate_all(
        "lines => lines.map(line => Number(line.getAttribute('stroke-width')))"
    )
    assert widths == pytest.approx([2, 7, 7, 3, 3], abs=1e-3)
    chosen.get_by_role("button", name="ant").click()
    assert chosen.locator("h2").inner_text() == "ant"
    page.locator("#notable").get_by_role("button", name="beetle – cat").click()
    assert "None are known for this edge." in chosen.inner_text()
    figures = plain(page.locator("#figures .figure").all_inner_texts())
    assert [one.split("\n") for one in figures] == [
        ["Homophily", "50.0 % → 75.0 %+25.0"],
        ["Accuracy", "– → 90.0 %"],
    ]


def test_a_search_lists_its_hits_and_enter_goes_to_the_best(desk):
    page = desk
    page.get_by_label("Find a node").fill("E")
    assert page.locator("#found button").all_inner_texts() == ["bee", "beetle"]
    page.get_by_label("Find a node").fill("tle")
    page.keyboard.press("Enter")
    assert page.locator("#selection h2").inner_text() == "beetle"
    middle = page.evaluate("explorer.placeOf(4, 3)")
    box = page.locator("#plot").bounding_box()
    np.testing.assert_allclose(middle, [box["width"] / 2, box["height"] / 2], atol=1)
    page.get_by_label("Find a node").fill("dog")
    assert page.locator("#found").inner_text() == "No node has this in its name."


def test_switches_and_threshold_choose_the_edges(desk):
    page = desk
    layers = ("observed", "latent", "added", "dropped")

    def drawn():
        return [lines_in(page, layer) for layer in layers]

    assert drawn() == [0, 1, 1, 1]
    page.get_by_label("Observed 2").check()
    assert drawn() == [2, 1, 1, 1]
    page.get_by_label("Added").uncheck()
    assert drawn() == [2, 2, 0, 1]
    page.get_by_label("Latent 2").uncheck()
    page.get_by_label("Dropped").uncheck()
    assert drawn() == [2, 0, 0, 0]
    page.get_by_label("Latent 2").check()
    page.locator("#threshold").fill("0.6")
    page.wait_for_function("explorer.view.drawn.length === 2")
    assert drawn() == [1, 1, 0, 0]
    page.get_by_role("slider").press("Home")
    page.wait_for_function("explorer.view.drawn.length === 3")
    assert page.locator("#threshold").input_value() == "0"


def test_few_edges_are_drawn_at_first_and_every_colouring_has_a_legend(many, opened):
    page = opened(many, **DESKTOP)
    assert 2500 < page.evaluate("explorer.view.drawn.length") <= 3000
    seen = {}
    for words in ("class", "prediction", "error", "entropy (how unsure)"):
        page.get_by_label("Colour nodes by").select_option(words)
        shades = page.evaluate("Array.from(explorer.view.model('nodes').data.shade)")
        seen[words] = page.locator("#legend li").count(), np.array(shades)
    assert [legend for legend, _ in seen.values()] == [12, 12, 2, 1]
    assert (seen["class"][1] == many["labels"]).all()
    assert (seen["prediction"][1] == many["predictions"]).all()
    assert (seen["error"][1] == (many["labels"] != many["predictions"])).all()
    np.testing.assert_allclose(seen["entropy (how unsure)"][1], many["entropy"], rtol=1e-6)


@pytest.mark.parametrize(("labels", "first"), [([0, 0, -1, 1], "class"), ([0, -1, -1, -1], "pred")])
def test_where_few_labels_are_known_nodes_have_the_colour_of_their_prediction(
    small, opened, labels, first
):
    page = opened({**small, "labels": labels}, **DESKTOP)
    chosen = page.locator("#colouring option:checked")
    assert chosen.inner_text().startswith(first)


def test_words_of_the_data_stay_words(small, opened):
    nasty = {"node_names": NASTY, "class_names": NASTY[:2], "features": NASTY, "title": NASTY[0]}
    figures = (BeforeAfter(NASTY[1], 0.5, 0.5),)
    page = opened({**small, **nasty, "figures": figures}, **DESKTOP)
    assert page.title() == page.locator("h1").inner_text() == NASTY[0]
    for number, name in enumerate(NASTY):
        page.get_by_label("Find a node").fill(name)
        page.keyboard.press("Enter")
        assert page.locator("#selection h2").inner_text() == name
        assert page.locator("#selection .features").inner_text() == NASTY[number]
    page.get_by_role("button", name="Show the whole graph").click()
    touch(page, 4, 1.5)
    page.locator("#witnesses").wait_for()
    page.mouse.move(*(page.locator("#plot").bounding_box()[side] + 5 for side in ("x", "y")))
    assert page.locator("body img, body b:not(.switch b)").count() == 0
    assert page.locator("script").count() == page.locator("head ~ body > script").count()


def test_on_a_phone_all_fits_and_a_tap_chooses(small, opened):
    page = opened({**small, "node_names": ["a" * 300, "bee", "beetle", "cat"]}, **PHONE)
    left, top = page.evaluate("explorer.placeOf(0, 0)")
    box = page.locator("#plot").bounding_box()
    page.touchscreen.tap(box["x"] + left, box["y"] + top)
    page.wait_for_function("explorer.state.node === 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    below = page.locator("#selection").bounding_box()["y"]
    assert below > box["y"] + box["height"]
    page.get_by_role("button", name="Why the edge").first.tap()
    assert page.evaluate("explorer.state.pair") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
