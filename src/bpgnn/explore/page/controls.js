// The controls and what stands beside them.

const MOST_FOUND = 30;
const byId = (id) => document.getElementById(id);

function showHead(scene, totals) {
  byId("summary").textContent =
    `${count(scene.numNodes)} nodes in ${count(scene.class_names.length)} classes; ` +
    `${count(scene.numPairs)} edges: ${count(totals.kept)} kept, ${count(totals.added)} added, ${count(totals.dropped)} dropped`;
  const shown = (share) => (share === null ? "–" : percent(share));
  byId("figures").replaceChildren(
    ...scene.figures.map(([words, before, after]) => {
      const change = before === null || after === null ? null : 100 * (after - before);
      const sign = change < 0 ? "−" : "+";
      return make(
        "div", { className: "figure", title: "On the observed graph → on the latent graph" },
        make("span", {}, words),
        make("strong", {}, `${shown(before)} → ${shown(after)}`),
        change === null ? null : make("em", {}, `${sign}${Math.abs(change).toFixed(1)}`),
      );
    }),
  );
}

const OUTLINES = {
  circle: "M7 1.5a5.5 5.5 0 1 0 .01 0z", square: "M2 2h10v10H2z", triangle: "M7 1l6 11H1z",
  diamond: "M7 0l5 7-5 7-5-7z", inverted_triangle: "M7 13L1 2h12z",
  star: "M7 0l2 5h5l-4 3 1.5 6L7 10.500l-4.500 3.500L4 8 0 5h5z", hex: "M4 1.500h6l3.500 5.500L10 12.500H4L.5 7z",
  plus: "M5 1h4v4h4v4H9v4H5V9H1V5h4z",
};

function showLegend(legend) {
  byId("legend").replaceChildren(
    ...legend.map(({ words, colour, shape, scale, from, to }) => {
      if (scale) {
        const bar = make("i");
        bar.style.background = `linear-gradient(to right, ${scale.join(", ")})`;
        return make("li", { className: "scale" }, bar, make("span", {}, make("span", {}, from), make("span", {}, to)));
      }
      const mark = svgElement("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" });
      mark.append(svgElement("path", { d: OUTLINES[shape], fill: colour, stroke: "#16181d", "stroke-opacity": 0.6 }));
      return make("li", {}, mark, words);
    }),
  );
}

function showDrawn({ drawn, wanted }) {
  const cut = wanted > drawn.length ? `, the most probable of ${count(wanted)}` : "";
  byId("drawn").textContent =
    `${count(drawn.length)} edges drawn${cut} (at most ${count(MOST_PAIRS)} are). ` +
    "The threshold leaves dropped edges alone: they are improbable by nature.";
}

function showFound(scene, hits, choose) {
  const found = byId("found");
  if (hits === null) return found.replaceChildren();
  if (hits.length === 0) return found.replaceChildren(make("p", { className: "quiet" }, "No node has this in its name."));
  const rest = hits.length - MOST_FOUND;
  return found.replaceChildren(
    make("p", { className: "quiet" }, hits.length === 1 ? "One node:" : `${count(hits.length)} nodes:`),
    make("ul", {}, ...hits.slice(0, MOST_FOUND).map((node) => make("li", {}, link(scene.node_names[node], () => choose.node(node))))),
    rest > 0 ? make("p", { className: "quiet" }, `And ${count(rest)} more: type more of the name.`) : "",
  );
}

function listenToSearch(scene, choose) {
  const field = byId("wanted");
  const search = () => {
    const hits = field.value.trim() ? findNodes(scene, field.value) : null;
    showFound(scene, hits, choose);
    return hits;
  };
  field.addEventListener("input", search);
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const hits = search();
    if (hits?.length) choose.node(hits[0]);
  });
}

function listenToThreshold(weights, first, act) {
  const [slider, field] = [byId("slider"), byId("threshold")];
  const steps = Number(slider.max);
  const say = (value) => slider.setAttribute("aria-valuetext", `P̃ at least ${probability(value)}`);
  const place = (value) => {
    slider.value = Math.round(steps * positionOf(weights, value));
    say(value);
  };
  // Rounded down, so that the pair the slider stopped at stays in.
  const write = (value) => (field.value = value < 1e-3 ? Number(value.toPrecision(3)) : Math.floor(value * 1e4) / 1e4);
  slider.addEventListener("input", () => {
    const value = thresholdAt(weights, slider.value / steps);
    write(value);
    say(value);
    act(value);
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (field.value === "" || !(value >= 0)) return;
    place(value);
    act(value);
  });
  write(first);
  place(first);
}
