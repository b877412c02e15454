// Colours that people of every colour vision can tell apart: Paul Tol's muted scheme. A tenth class
// takes the first colour again, with another shape.

const CLASS_COLOURS = [
  "#332288", "#88ccee", "#44aa99", "#117733", "#ddcc77", "#cc6677", "#882255", "#aa4499", "#999933",
];
const SHAPES = ["circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus"];
const UNKNOWN = "#d6d9de";
// Cividis, from sure to unsure, without its palest end.
const SCALE = [
  "#e1cc55", "#c3b369", "#a59c74", "#8a8779", "#707173", "#575d6d", "#3b496c", "#123570", "#00224e",
];

const colourOfClass = (c) => (c < 0 ? UNKNOWN : CLASS_COLOURS[c % CLASS_COLOURS.length]);
const shapeOfClass = (c) => (c < 0 ? "circle" : SHAPES[Math.floor(c / CLASS_COLOURS.length) % SHAPES.length]);

// For a way of colouring: a number and a shape for each node, a palette from low to high, and what
// the legend says.
function shading(scene, colouring) {
  if (colouring === "entropy") return entropyShading(scene);
  if (colouring === "error") return errorShading(scene);
  return classShading(scene, scene[colouring]);
}

function classShading(scene, classes) {
  const numClasses = scene.class_names.length;
  const present = new Set(classes);
  const legend = scene.class_names
    .map((words, c) => ({ words, colour: colourOfClass(c), shape: shapeOfClass(c), c }))
    .filter(({ c }) => present.has(c) || numClasses <= 12);
  if (present.has(-1)) legend.push({ words: "unknown", colour: UNKNOWN, shape: "circle" });
  return {
    values: Float64Array.from(classes, (c) => (c < 0 ? numClasses : c)),
    markers: Array.from(classes, shapeOfClass),
    palette: [...scene.class_names.map((_, c) => colourOfClass(c)), UNKNOWN],
    low: -0.5,
    high: numClasses + 0.5,
    legend,
  };
}

function errorShading(scene) {
  const outcomes = [
    { words: "right", colour: "#88b7dd", shape: "circle" },
    { words: "wrong", colour: "#b8280f", shape: "triangle" },
    { words: "label unknown", colour: UNKNOWN, shape: "circle" },
  ];
  const values = Float64Array.from(scene.labels, (label, node) =>
    label < 0 ? 2 : label === scene.predictions[node] ? 0 : 1,
  );
  const totals = outcomes.map((_, outcome) => values.reduce((sum, v) => sum + (v === outcome), 0));
  return {
    values,
    markers: Array.from(values, (v) => outcomes[v].shape),
    palette: outcomes.map(({ colour }) => colour),
    low: -0.5,
    high: 2.5,
    legend: outcomes
      .map((outcome, i) => ({ ...outcome, words: `${outcome.words} (${count(totals[i])})` }))
      .filter((_, i) => totals[i] > 0),
  };
}

function entropyShading(scene) {
  const high = scene.entropy.reduce((most, value) => Math.max(most, value), 1e-6);
  return {
    values: Float64Array.from(scene.entropy),
    markers: new Array(scene.numNodes).fill("circle"),
    palette: SCALE,
    low: 0,
    high,
    legend: [{ scale: SCALE, from: "0, sure", to: `${high.toFixed(2)}, unsure` }],
  };
}
