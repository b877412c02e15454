// The witness triangles of a pair, drawn and in words.

const MOST_TRIANGLES = 6;
const SVG = "http://www.w3.org/2000/svg";

function svgElement(tag, attributes, words) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (words !== undefined) element.textContent = words;
  return element;
}

const shortened = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);

function triangleDrawing(scene, pair, witnesses) {
  const [width, top, bottom] = [320, 34, 128];
  const shown = witnesses.filter(({ node, near, far }) => node !== near && node !== far).slice(0, MOST_TRIANGLES);
  const svg = svgElement("svg", { viewBox: `0 0 ${width} 158`, role: "img" });
  svg.setAttribute("aria-label", "The two ends of the edge below, its witnesses above");
  const ends = new Map([[scene.first[pair], [52, bottom]], [scene.second[pair], [width - 52, bottom]]]);
  const [[x0], [x1]] = ends.values();
  const most = Math.max(...shown.map(({ share }) => share), 1e-9);
  const kind = scene.kinds[scene.kind[pair]];
  const style = { x1: x0, y1: bottom, x2: x1, y2: bottom, "stroke-width": 2 };
  svg.append(svgElement("line", { ...style, stroke: colourOf(kind), "stroke-dasharray": kind === "kept" ? "none" : "5 4" }));
  const places = shown.map((_, w) => (width * (w + 0.5)) / shown.length);
  shown.forEach(({ near, far, share }, w) => {
    const line = (end, stroke) =>
      svgElement("line", {
        x1: places[w], y1: top, x2: ends.get(end)[0], y2: bottom, stroke,
        "stroke-width": 1 + 6 * (share / most), "stroke-opacity": 0.8, "stroke-linecap": "round",
      });
    svg.append(line(near, "var(--observed)"), line(far, "var(--latent)"));
  });
  shown.forEach(({ node }, w) => svg.append(...dot(scene, node, places[w], top, -13, Math.floor(46 / shown.length) + 3)));
  for (const [node, [x]] of ends) svg.append(...dot(scene, node, x, bottom, 22, 15));
  return shown.length ? svg : null;
}

function colourOf(kind) {
  return `var(--${kind === "kept" ? "latent" : kind})`;
}

function dot(scene, node, x, y, below, room) {
  const circle = svgElement("circle", {
    cx: x, cy: y, r: 7, fill: colourOfClass(scene.predictions[node]), stroke: "#16181d", "stroke-width": 1.5,
  });
  const name = scene.node_names[node];
  circle.append(svgElement("title", {}, name));
  const words = { x, y: y + below, "text-anchor": "middle", "font-size": 12, fill: "#16181d" };
  return [circle, svgElement("text", words, shortened(name, room))];
}

function inWords(scene, { node, near, far, similarity, share }) {
  const name = (i) => scene.node_names[i];
  const part = `${percent(share)} of the evidence.`;
  if (node === near) return `${name(near)} itself resembles ${name(far)} (P = ${probability(similarity)}): ${part}`;
  if (node === far) return `${name(far)} is an observed neighbour of ${name(near)}: ${part}`;
  return `${name(node)}, an observed neighbour of ${name(near)}, resembles ${name(far)} (P = ${probability(similarity)}): ${part}`;
}
