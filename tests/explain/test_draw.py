"""The triangles behind one edge, drawn."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpgnn.explain.draw import draw_edge
from bpgnn.explain.edge import EdgeReasons, Witness, explain_edge

SVG = "{http://www.w3.org/2000/svg}"


def reasons_of(count, side="target"):
    votes = (Witness(k, side, 1 / count, 0.5, 0.5 / count, 1 / count) for k in range(count))
    return EdgeReasons(0, 1, 0.5, tuple(votes))


def texts(drawing):
    return [one.text for one in ET.fromstring(drawing).iter(f"{SVG}text")]


@settings(max_examples=30)
@given(st.lists(st.text(max_size=40), min_size=4, max_size=4))
def test_whatever_nodes_are_called_the_drawing_is_sound_and_without_script(names):
    drawing = draw_edge(reasons_of(4), names)
    root = ET.fromstring(drawing)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        *("svg", "title", "rect", "path", "circle", "text")
    }


def test_a_name_that_is_markup_is_shown_as_it_is():
    drawing = draw_edge(reasons_of(3), ["A", "B", "<script>x</script>"])
    assert "<script>" not in drawing
    assert "<script>x</script>" in texts(drawing)


def test_witnesses_beyond_the_most_are_one_box():
    shown = texts(draw_edge(reasons_of(20), most=8))
    assert "and 12 more" in shown
    assert "60 % together" in shown
    assert "node 7" in shown
    assert "node 8" not in shown
    assert not any("more" in text for text in texts(draw_edge(reasons_of(9), most=8)))


def test_witnesses_of_hardly_any_share_are_one_box():
    votes = [(2, 0.998), (3, 0.001), (4, 0.001)]
    reasons = EdgeReasons(0, 1, 1.0, tuple(Witness(k, "target", x, 1, x, x) for k, x in votes))
    shown = texts(draw_edge(reasons))
    assert "and 2 more" in shown
    assert "node 3" not in shown


def test_lines_are_as_wide_as_shares_and_boxes_do_not_touch():
    votes = (Witness(2, "target", 0.5, 0.8, 0.4, 0.8), Witness(3, "target", 0.5, 0.2, 0.1, 0.2))
    root = ET.fromstring(draw_edge(EdgeReasons(0, 1, 0.5, votes)))
    paths = list(root.iter(f"{SVG}path"))[:4]
    assert [float(one.get("stroke-width")) for one in paths] == pytest.approx([9.2, 9.2, 3.2, 3.2])
    boxes = list(root.iter(f"{SVG}rect"))[1:]
    bottoms = [float(one.get("y")) + float(one.get("height")) for one in boxes]
    assert all(float(b.get("y")) > end for b, end in zip(boxes[1:], bottoms[:-1], strict=True))
    assert bottoms[-1] < float(root.get("height")) - 30


def test_observed_edges_are_solid_on_the_side_whose_witness_it_is():
    for side, solid in (("target", 0), ("source", 1)):
        vote = Witness(2, side, 1.0, 0.5, 0.5, 1.0)
        root = ET.fromstring(draw_edge(EdgeReasons(0, 1, 0.5, (vote,))))
        dashed = [one.get("stroke-dasharray") for one in root.iter(f"{SVG}path")][:2]
        assert dashed[solid] is None
        assert dashed[1 - solid] is not None


def test_long_names_are_cut_but_the_figures_are_not():
    drawing = draw_edge(reasons_of(3), ["W" * 200, "x" * 200, "y" * 200])
    assert not re.search("W{30}", drawing)
    assert any(text.endswith("…: probability 0.5") for text in texts(drawing))


def test_an_edge_nobody_speaks_for_is_drawn_too():
    assert "nobody speaks for it" in texts(draw_edge(EdgeReasons(0, 1, 1e-24, (), 1e-24)))


@pytest.mark.parametrize("changes", [{}, {"symmetric": True}, {"residual": "sum"}])
def test_what_a_network_gives_can_be_drawn(explained, changes):
    method, _, output = explained(**changes)
    shown = texts(draw_edge(explain_edge(method, output, 5, 7)))
    assert shown[0].startswith("node 5 – node 7: ")
    assert ("observed edge" in shown) or ("node 5 itself" in shown)
