// Which pairs are drawn, in which layer.

// Measured: 20 000 pairs over 19 717 nodes are redrawn in half a second without a GPU.
const MOST_PAIRS = 20000;
const PAIRS_AT_FIRST = 3000;
const DROPPED_AT_FIRST = 1500;
const LAYER_NAMES = ["observed", "latent", "added", "dropped"];

// Pairs below the threshold are left out, and beyond MOST_PAIRS the least probable ones. Dropped
// pairs are improbable by nature, so the threshold leaves them alone.
function choosePairs(scene, switches, threshold) {
  const layers = { observed: [], latent: [], added: [], dropped: [] };
  const drawn = [];
  let wanted = 0;
  for (const pair of scene.by_weight) {
    const kind = scene.kinds[scene.kind[pair]];
    if (kind !== "dropped" && scene.weight[pair] < threshold) continue;
    const homes = layersOf(kind).filter((layer) => switches[layer]);
    if (homes.length === 0) continue;
    wanted++;
    if (drawn.length === MOST_PAIRS) continue;
    drawn.push(pair);
    for (const layer of homes) {
      // Under the layer that singles it out, a translucent line would only muddy the colour.
      if (!(layer === "latent" && kind === "added" && switches.added)) layers[layer].push(pair);
    }
  }
  return { layers, drawn, wanted };
}

const layersOf = (kind) =>
  ({ kept: ["observed", "latent"], added: ["latent", "added"], dropped: ["observed", "dropped"] })[kind];

function countKinds(scene) {
  const totals = { kept: 0, added: 0, dropped: 0 };
  for (const kind of scene.kind) totals[scene.kinds[kind]]++;
  return totals;
}

function switchesAtFirst(totals) {
  return { observed: false, latent: true, added: true, dropped: totals.dropped <= DROPPED_AT_FIRST };
}

// The probabilities of pairs that the threshold concerns, falling.
function fallingWeights(scene) {
  const dropped = scene.kinds.indexOf("dropped");
  return Float32Array.from(
    Array.from(scene.by_weight).filter((pair) => scene.kind[pair] !== dropped),
    (pair) => scene.weight[pair],
  );
}

// The slider goes by the number of pairs it leaves, finer towards few, so that every stretch of it
// does something however the probabilities lie.
const thresholdAt = (weights, position) => {
  const left = Math.round(weights.length * (1 - position) ** 3);
  return left >= weights.length ? 0 : left === 0 ? weights[0] : weights[left - 1];
};

const positionOf = (weights, threshold) =>
  1 - Math.cbrt(numAtLeast(weights, threshold) / Math.max(weights.length, 1));

function numAtLeast(weights, threshold) {
  let [low, high] = [0, weights.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weights[middle] >= threshold) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Equal probabilities stay together: rather fewer pairs than there is room for, but at least some.
function thresholdAtFirst(weights, room) {
  if (weights.length <= room) return 0;
  let least = room - 1;
  while (least >= 0 && weights[least] === weights[room]) least--;
  return weights[Math.max(least, 0)];
}
