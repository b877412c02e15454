// What is known of the chosen node or edge. Words of the data go in as text, never as HTML.

const MOST_ROWS = 60;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const link = (words, act) => make("button", { type: "button", className: "link", onclick: act }, words);

function table(rows) {
  return make("dl", {}, ...rows.flatMap(([term, ...words]) => [make("dt", {}, term), make("dd", {}, ...words)]));
}

function kindMark(scene, pair) {
  const kind = scene.kinds[scene.kind[pair]];
  return make("span", { className: "kind" }, make("i", { className: `line ${kind === "kept" ? "latent" : kind}` }), kind);
}

function nothingChosen() {
  return [
    make("h2", {}, "Nothing chosen yet"),
    make("p", { className: "quiet" }, "Choose a node or an edge on the map, find a node by its name, or take an edge from the lists."),
  ];
}

function nodeDetails(scene, node, choose) {
  const pairs = pairsOf(scene, node);
  const rows = Array.from(pairs.subarray(0, MOST_ROWS), (pair) => {
    const other = otherEnd(scene, pair, node);
    return make(
      "li", {},
      link(scene.node_names[other], () => choose.node(other)),
      kindMark(scene, pair),
      make("span", { className: "number" }, probability(scene.weight[pair])),
      whyLink(scene, pair, choose),
    );
  });
  return [
    make("h2", {}, scene.node_names[node]),
    table(nodeFacts(scene, node)),
    ...(scene.features[node] ? [make("h3", {}, "Features"), make("p", { className: "features" }, scene.features[node])] : []),
    make("h3", {}, `Neighbours (${count(pairs.length)}), with kind and P̃`),
    make("ul", { className: "rows", id: "neighbours" }, ...rows),
    pairs.length > MOST_ROWS ? make("p", { className: "quiet" }, `And ${count(pairs.length - MOST_ROWS)} less probable ones.`) : null,
  ].filter((child) => child !== null);
}

function whyLink(scene, pair, choose) {
  const why = link("why?", () => choose.pair(pair));
  const [one, other] = [scene.first[pair], scene.second[pair]].map((node) => scene.node_names[node]);
  why.setAttribute("aria-label", `Why the edge between ${one} and ${other}?`);
  return why;
}

function nodeFacts(scene, node) {
  const [label, prediction] = [scene.labels[node], scene.predictions[node]];
  const right = label === prediction;
  const verdict = make("span", { className: right ? "right-answer" : "wrong" }, right ? " ✓ right" : " ✗ wrong");
  const part = scene.parts[scene.part[node]];
  return [
    ["Label", label < 0 ? "unknown" : scene.class_names[label]],
    ["Prediction", scene.class_names[prediction], ...(label < 0 ? [] : [verdict])],
    ["Confidence", percent(scene.confidence[node])],
    ["Entropy", scene.entropy[node].toFixed(3)],
    ["Part", part || "none"],
  ];
}

const KIND_WORDS = {
  kept: "Observed, and in the latent graph too.",
  added: "Not observed: the latent graph adds it.",
  dropped: "Observed, but in none of the sampled graphs.",
};

function pairDetails(scene, pair, choose) {
  const [i, j] = [scene.first[pair], scene.second[pair]];
  const witnesses = witnessesOf(scene, pair);
  const drawing = triangleDrawing(scene, pair, witnesses);
  return [
    make("h2", {}, `${scene.node_names[i]} – ${scene.node_names[j]}`),
    make("p", { className: "quiet" }, KIND_WORDS[scene.kinds[scene.kind[pair]]]),
    table([
      ["Kind", kindMark(scene, pair)],
      ["P̃", probability(scene.weight[pair])],
      ["Sampled in", `${percent(scene.frequency[pair] / WHOLE_SHARE)} of the graphs`],
      ["Ends", ...[i, j].map((node) => endLine(scene, node, choose))],
    ]),
    make("h3", {}, `Witnesses (${count(witnesses.length)})`),
    ...(drawing ? [drawing, make("p", { className: "quiet" }, "Grey: observed edge. Blue: similarity. Wider: a larger share.")] : []),
    witnesses.length
      ? make("ol", { className: "words", id: "witnesses" }, ...witnesses.slice(0, MOST_ROWS).map((w) =>
          make("li", {}, link(scene.node_names[w.node], () => choose.node(w.node)), inWords(scene, w))))
      : make("p", { className: "quiet" }, "None are known for this edge."),
  ];
}

function endLine(scene, node, choose) {
  const words = `, predicted ${scene.class_names[scene.predictions[node]]}`;
  return make("div", {}, link(scene.node_names[node], () => choose.node(node)), words);
}

function notableDetails(scene, choose) {
  const list = (heading, words, pairs) => [
    make("h3", {}, heading),
    make("p", { className: "quiet" }, pairs.length ? words : "There are none."),
    make("ul", { className: "rows" }, ...Array.from(pairs, (pair) =>
      make(
        "li", {},
        link(`${scene.node_names[scene.first[pair]]} – ${scene.node_names[scene.second[pair]]}`, () => choose.pair(pair)),
        kindMark(scene, pair),
        make("span", { className: "number" }, probability(scene.weight[pair])),
        make("span", { className: "number" }, percent(scene.frequency[pair] / WHOLE_SHARE)),
      ))),
  ];
  return [
    make("h2", {}, "Edges worth a look"),
    make("p", { className: "quiet" }, "With kind, P̃, and the share of sampled graphs that have it."),
    ...list("Observed but improbable", "Perhaps errors of the data.", scene.improbable_observed),
    ...list("Added and certain", "Perhaps missing from the data.", scene.certain_added),
  ];
}
