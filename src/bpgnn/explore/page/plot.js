// The map: Bokeh draws it, this file says what and finds what was touched.

const NODE_SIZES = [[300, 10], [1000, 8], [4000, 6], [Infinity, 4]];

async function makePlot(scene, item, touched) {
  const document_ = await embed(item);
  const model = (name) => document_.get_model_by_name(name);
  const plot = model("plot");
  const size = NODE_SIZES.find(([most]) => scene.numNodes <= most)[1];
  const glyph = model("node glyphs").glyph;
  glyph.size = { value: size };
  if (scene.numNodes > 4000) glyph.line_color = { value: null };
  const view = { plot, model, size, drawn: [], whole: wholeOf(scene) };
  const tap = ({ x, y }) => touched.tap(hit(scene, view, x, y));
  plot.js_event_callbacks = new Map([
    ["tap", [tap]],
    // Two quick taps count as a double one, even far from each other.
    ["doubletap", [tap]],
    ["mousemove", [(event) => touched.hover(nearestNode(scene, view, event.x, event.y), event)]],
    ["mouseleave", [() => touched.hover(null)]],
  ]);
  showWhole(view);
  plot.x_range.change.connect(() => sizeNodes(view, glyph));
  return view;
}

// Nodes grow a little as one comes closer, in steps, since every step redraws all of them.
function sizeNodes(view, glyph) {
  const { start, end } = view.plot.x_range;
  const closer = (view.whole.x[1] - view.whole.x[0]) / Math.abs(end - start);
  const size = Math.round(view.size * Math.min(Math.max(closer ** 0.35, 1), 2.5));
  if (glyph.size.value !== size) glyph.size = { value: size };
}

async function embed(item) {
  Bokeh.logger.set_level("warn");
  item.doc.roots[0].attributes.output_backend = hasGraphicsCard() ? "webgl" : "canvas";
  await Bokeh.embed.embed_item(item, "plot");
  return Bokeh.documents[Bokeh.documents.length - 1];
}

// Where WebGL is only emulated it is several times slower than the plain canvas (measured: 0.9 s
// against 0.3 s a frame at 19 717 nodes).
function hasGraphicsCard() {
  const webgl = document.createElement("canvas").getContext("webgl", { failIfMajorPerformanceCaveat: true });
  const words = webgl?.getExtension("WEBGL_debug_renderer_info");
  const card = words ? webgl.getParameter(words.UNMASKED_RENDERER_WEBGL) : "";
  return webgl !== null && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(card);
}

function wholeOf(scene) {
  const reach = (values) => {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const margin = 0.04 * (high - low) || 1;
    return [low - margin, high + margin];
  };
  return { x: reach(scene.x), y: reach(scene.y) };
}

function show(view, [left, right], [bottom, top]) {
  view.plot.x_range.setv({ start: left, end: right });
  view.plot.y_range.setv({ start: bottom, end: top });
}

const showWhole = (view) => show(view, view.whole.x, view.whole.y);

function zoomBy(view, factor) {
  const around = ({ start, end }) => {
    const [middle, half] = [(start + end) / 2, (factor * (end - start)) / 2];
    return [middle - half, middle + half];
  };
  show(view, around(view.plot.x_range), around(view.plot.y_range));
}

// Brings a place to the middle, from no farther than a quarter of the whole.
function centre(view, x, y) {
  const half = ({ start, end }, [low, high]) => Math.min(Math.abs(end - start), (high - low) / 4) / 2;
  const [w, h] = [half(view.plot.x_range, view.whole.x), half(view.plot.y_range, view.whole.y)];
  show(view, [x - w, x + w], [y - h, y + h]);
}

function drawNodes(scene, view, { values, markers, palette, low, high }) {
  view.model("shade").setv({ palette, low, high });
  view.model("nodes").data = { x: scene.x, y: scene.y, shade: values, marker: markers };
}

function drawPairs(scene, view, { layers, drawn }) {
  view.drawn = drawn;
  for (const layer of LAYER_NAMES) {
    const ends = layers[layer].map((pair) => [scene.first[pair], scene.second[pair]]);
    view.model(layer).data = lines(scene, ends);
  }
}

// One line through all ends, with a gap after each two.
function lines(scene, ends) {
  const x = new Float64Array(3 * ends.length).fill(NaN);
  const y = new Float64Array(3 * ends.length).fill(NaN);
  ends.forEach(([i, j], e) => {
    x[3 * e] = scene.x[i];
    x[3 * e + 1] = scene.x[j];
    y[3 * e] = scene.y[i];
    y[3 * e + 1] = scene.y[j];
  });
  return { x, y };
}

function highlight(scene, view, { nodes, thin, thick }) {
  view.model("chosen").data = lines(scene, thin);
  view.model("asked").data = lines(scene, thick);
  view.model("rings").data = {
    x: nodes.map((node) => scene.x[node]),
    y: nodes.map((node) => scene.y[node]),
    size: nodes.map((_, place) => view.size + (place === 0 ? 9 : 3)),
  };
}

function pixelsPerUnit({ plot }) {
  const { x_range, y_range, inner_width, inner_height } = plot;
  return [inner_width / (x_range.end - x_range.start), inner_height / (y_range.end - y_range.start)];
}

const reachOf = () => (matchMedia("(pointer: coarse)").matches ? 18 : 9);

// A node if one is near, or else a drawn pair, or else nothing.
function hit(scene, view, x, y) {
  const node = nearestNode(scene, view, x, y);
  if (node !== null) return { node };
  const pair = nearestPair(scene, view, x, y);
  return pair === null ? {} : { pair };
}

function nearestNode(scene, view, x, y) {
  const [across, up] = pixelsPerUnit(view);
  let [best, least] = [null, reachOf() ** 2];
  for (let i = 0; i < scene.numNodes; i++) {
    const distance = ((scene.x[i] - x) * across) ** 2 + ((scene.y[i] - y) * up) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

function nearestPair(scene, view, x, y) {
  const [across, up] = pixelsPerUnit(view);
  let [best, least] = [null, reachOf() ** 2];
  for (const pair of view.drawn) {
    const [i, j] = [scene.first[pair], scene.second[pair]];
    const [ax, ay] = [(scene.x[i] - x) * across, (scene.y[i] - y) * up];
    const [dx, dy] = [(scene.x[j] - x) * across - ax, (scene.y[j] - y) * up - ay];
    const along = Math.min(1, Math.max(0, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
    const distance = (ax + along * dx) ** 2 + (ay + along * dy) ** 2;
    if (distance < least) [best, least] = [pair, distance];
  }
  return best;
}

// Where a place of the map is on the screen, from the top left of the plot.
function onScreen(view, x, y) {
  const [across, up] = pixelsPerUnit(view);
  return [(x - view.plot.x_range.start) * across, (view.plot.y_range.end - y) * up];
}
