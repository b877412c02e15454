// The witness triangles of a pair, drawn and in words.

const MOST_TRIANGLES = 6;
const WIDTH = 320;
const LETTER = 7;
const SVG = "http://www.w3.org/2000/svg";

function svgElement(tag, attributes, words) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (words !== undefined) element.textContent = words;
  return element;
}

const shortened = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);

function triangleDrawing(scene, pair, witnesses) {
  const shown = witnesses.filter(({ node, near, far }) => node !== near && node !== far).slice(0, MOST_TRIANGLES);
  if (shown.length === 0) return null;
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} 170`, role: "img" });
  svg.setAttribute("aria-label", "The two ends of the edge below, its witnesses above, as told in words underneath");
  const [top, bottom] = [46, 140];
  const ends = new Map([[scene.first[pair], 56], [scene.second[pair], WIDTH - 56]]);
  const [left, right] = ends.values();
  const kind = scene.kinds[scene.kind[pair]];
  svg.append(line([left, bottom], [right, bottom], colourOf(kind), 2, kind === "kept" ? "none" : "5 4"));
  const places = shown.map((_, w) => (WIDTH * (w + 0.5)) / shown.length);
  const most = Math.max(...shown.map(({ share }) => share), 1e-9);
  shown.forEach(({ near, far, share }, w) => {
    const width = 1 + 6 * (share / most);
    svg.append(line([places[w], top], [ends.get(near), bottom], "var(--observed)", width));
    svg.append(line([places[w], top], [ends.get(far), bottom], "var(--latent)", width));
  });
  // Names of many witnesses stand on two levels, so that there is room for them.
  const levels = shown.length > 3 ? 2 : 1;
  const room = (levels * WIDTH) / shown.length;
  shown.forEach(({ node }, w) => svg.append(...dot(scene, node, [places[w], top], w % levels ? -29 : -14, room)));
  for (const [node, x] of ends) svg.append(...dot(scene, node, [x, bottom], 23, WIDTH / 2));
  return svg;
}

function line([x1, y1], [x2, y2], stroke, width, dash = "none") {
  return svgElement("line", {
    x1, y1, x2, y2, stroke, "stroke-width": width, "stroke-dasharray": dash, "stroke-opacity": 0.8, "stroke-linecap": "round",
  });
}

function colourOf(kind) {
  return `var(--${kind === "kept" ? "latent" : kind})`;
}

function dot(scene, node, [x, y], below, room) {
  const circle = svgElement("circle", {
    cx: x, cy: y, r: 7, fill: colourOfClass(scene.predictions[node]), stroke: "#16181d", "stroke-width": 1.5,
  });
  const name = scene.node_names[node];
  circle.append(svgElement("title", {}, name));
  const words = shortened(name, Math.floor(room / LETTER));
  const half = (words.length * LETTER) / 2;
  const middle = Math.min(Math.max(x, half), WIDTH - half);
  return [circle, svgElement("text", { x: middle, y: y + below, "text-anchor": "middle", "font-size": 12, fill: "#16181d" }, words)];
}

// What follows the name of the witness.
function inWords(scene, { node, near, far, similarity, share }) {
  const part = `${percent(share)} of the evidence.`;
  const likeness = `resembles ${scene.node_names[far]} (P = ${probability(similarity)}): ${part}`;
  if (node === near) return ` itself ${likeness}`;
  if (node === far) return ` is an observed neighbour of ${scene.node_names[near]}: ${part}`;
  return `, an observed neighbour of ${scene.node_names[near]}, ${likeness}`;
}
