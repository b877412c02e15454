// The scene that pack.py wrote, read back.

const TYPES = { f4: Float32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };
const WHOLE_SHARE = 65535;

async function readScene(text) {
  const packed = fromBase64(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  for (const [name, { type, start, length: size }] of Object.entries(scene.arrays)) {
    scene[name] = new TYPES[type](bytes, 8 + length + start, size);
  }
  scene.numNodes = scene.x.length;
  scene.numPairs = scene.first.length;
  scene.neighbours = neighbourLists(scene);
  scene.lowerNames = scene.node_names.map((name) => name.toLowerCase());
  return scene;
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// Where the pairs of each node begin, and the pairs, the most probable first.
function neighbourLists({ first, second, by_weight, numNodes, numPairs }) {
  const pointer = new Int32Array(numNodes + 1);
  for (let e = 0; e < numPairs; e++) {
    pointer[first[e] + 1]++;
    pointer[second[e] + 1]++;
  }
  for (let i = 0; i < numNodes; i++) pointer[i + 1] += pointer[i];
  const free = pointer.slice();
  const pairs = new Int32Array(2 * numPairs);
  for (const e of by_weight) {
    pairs[free[first[e]]++] = e;
    pairs[free[second[e]]++] = e;
  }
  return { pointer, pairs };
}

function pairsOf(scene, node) {
  const { pointer, pairs } = scene.neighbours;
  return pairs.subarray(pointer[node], pointer[node + 1]);
}

function otherEnd(scene, pair, node) {
  return scene.first[pair] === node ? scene.second[pair] : scene.first[pair];
}

function areObserved(scene, one, other) {
  return pairsOf(scene, one).some(
    (pair) => otherEnd(scene, pair, one) === other && scene.kinds[scene.kind[pair]] !== "added",
  );
}

// The witnesses of a pair (i, j), the largest share first. A witness is an observed neighbour of
// its near end and resembles the far one.
function witnessesOf(scene, pair) {
  const [i, j] = [scene.first[pair], scene.second[pair]];
  const found = [];
  for (let m = scene.witness_pointer[pair]; m < scene.witness_pointer[pair + 1]; m++) {
    const node = scene.witness_nodes[m];
    const turned = node === j || (node !== i && !areObserved(scene, i, node) && areObserved(scene, j, node));
    found.push({
      node,
      near: turned ? j : i,
      far: turned ? i : j,
      share: scene.witness_shares[m] / WHOLE_SHARE,
      similarity: scene.witness_similarity[m] / WHOLE_SHARE,
    });
  }
  return found.sort((a, b) => b.share - a.share);
}

// Nodes whose name has the words in it: the very name first, then names that begin so.
function findNodes(scene, words) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  const ranked = [[], [], []];
  scene.lowerNames.forEach((name, node) => {
    const place = name.indexOf(wanted);
    if (place >= 0) ranked[name === wanted ? 0 : place === 0 ? 1 : 2].push(node);
  });
  return ranked.flat();
}

const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");
const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
const probability = (value) => (value > 0 && value < 0.0005 ? "< 0.001" : value.toFixed(3));
