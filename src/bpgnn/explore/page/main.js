// All of it together.

async function main() {
  const scene = await readScene(byId("scene").textContent);
  byId("scene").remove();
  const totals = countKinds(scene);
  const weights = fallingWeights(scene);
  const switches = switchesAtFirst(totals);
  const room = PAIRS_AT_FIRST - (switches.dropped ? totals.dropped : 0);
  const state = { threshold: thresholdAtFirst(weights, room), node: null, pair: null };

  showHead(scene, totals);
  const choose = {
    node: (node, centred = true) => chooseNode(node, centred),
    pair: (pair, centred = true) => choosePair(pair, centred),
  };
  const view = await makePlot(scene, JSON.parse(byId("drawing").textContent), {
    tap: ({ node, pair }) => {
      if (node !== undefined) choose.node(node, false);
      else if (pair !== undefined) choose.pair(pair, false);
      else chooseNothing();
    },
    hover: (node, event) => showHint(scene, node, event),
  });

  function panel(details) {
    byId("selection").replaceChildren(...details);
    byId("selection").scrollTop = 0;
  }

  function chooseNothing() {
    [state.node, state.pair] = [null, null];
    panel(nothingChosen());
    highlight(scene, view, { nodes: [], thin: [], thick: [] });
  }

  function chooseNode(node, centred) {
    [state.node, state.pair] = [node, null];
    panel(nodeDetails(scene, node, choose));
    const others = Array.from(pairsOf(scene, node), (pair) => otherEnd(scene, pair, node));
    highlight(scene, view, { nodes: [node, ...others], thin: others.map((other) => [node, other]), thick: [] });
    if (centred) centre(view, scene.x[node], scene.y[node]);
  }

  function choosePair(pair, centred) {
    [state.node, state.pair] = [null, pair];
    panel(pairDetails(scene, pair, choose));
    const ends = [scene.first[pair], scene.second[pair]];
    const shown = witnessesOf(scene, pair).slice(0, MOST_TRIANGLES);
    const sides = shown.flatMap(({ node, near, far }) => [[node, near], [node, far]]);
    highlight(scene, view, { nodes: [...ends, ...shown.map(({ node }) => node)], thin: sides, thick: [ends] });
    if (centred) showTogether(scene, view, [...ends, ...shown.map(({ node }) => node)]);
  }

  function colour() {
    const shades = shading(scene, byId("colouring").value);
    drawNodes(scene, view, shades);
    showLegend(shades.legend);
  }

  function redraw() {
    const chosen = choosePairs(scene, switches, state.threshold);
    drawPairs(scene, view, chosen);
    showDrawn(chosen);
  }

  for (const layer of LAYER_NAMES) {
    const box = byId(layer);
    box.checked = switches[layer];
    const kinds = Object.keys(totals).filter((kind) => layersOf(kind).includes(layer));
    box.parentElement.querySelector("b").textContent = count(kinds.reduce((sum, kind) => sum + totals[kind], 0));
    box.addEventListener("change", () => {
      switches[layer] = box.checked;
      redraw();
    });
  }
  // Where few labels are known, classes would be a grey cloud.
  const numKnown = scene.labels.filter((label) => label >= 0).length;
  if (numKnown < scene.labels.length / 2) byId("colouring").value = "predictions";
  byId("colouring").addEventListener("change", colour);
  byId("closer").addEventListener("click", () => zoomBy(view, 0.6));
  byId("farther").addEventListener("click", () => zoomBy(view, 1 / 0.6));
  byId("whole").addEventListener("click", () => showWhole(view));
  listenToSearch(scene, choose);
  listenToThreshold(weights, state.threshold, (threshold) => {
    state.threshold = threshold;
    requestAnimationFrame(redraw);
  });

  byId("notable").replaceChildren(...notableDetails(scene, choose));
  chooseNothing();
  colour();
  redraw();
  byId("opening").remove();
  // For whoever drives the page by a script.
  window.explorer = { scene, state, view, choose, placeOf: (x, y) => onScreen(view, x, y) };
  document.documentElement.dataset.ready = "yes";
}

function showTogether(scene, view, nodes) {
  const middle = (values) => (Math.min(...values) + Math.max(...values)) / 2;
  const half = (values, [low, high]) => Math.max(0.8 * (Math.max(...values) - Math.min(...values)), (high - low) / 12);
  const [xs, ys] = [nodes.map((node) => scene.x[node]), nodes.map((node) => scene.y[node])];
  const [w, h] = [half(xs, view.whole.x), half(ys, view.whole.y)];
  show(view, [middle(xs) - w, middle(xs) + w], [middle(ys) - h, middle(ys) + h]);
}

function showHint(scene, node, event) {
  const hint = byId("hint");
  hint.hidden = node === null;
  if (node === null) return;
  hint.textContent = `${scene.node_names[node]} – ${scene.class_names[scene.predictions[node]]}`;
  const room = byId("map").clientWidth;
  hint.style.left = `${Math.min(event.sx + 14, Math.max(room - 250, 0))}px`;
  hint.style.top = `${event.sy + 14}px`;
}

main().catch((error) => {
  console.error(error);
  byId("opening")?.replaceChildren(`The page could not be opened: ${error.message}`);
});
