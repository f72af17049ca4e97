// kill -9 at random moments under traffic: `make soak`. Every answer equals the one of a server without a cache, every
// start succeeds, and at the end all files are whole. CAIRN_ROUNDS rounds, seeded by CAIRN_SEED.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { startServer, temporaryFolder } from './server.mjs';

const ROUNDS = Number(process.env.CAIRN_ROUNDS ?? 200);
const CLIENTS = 3;
const LONGEST_LIFE_MS = 1500;

/** mulberry32: the same moments and prompts for the same seed. */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
const random = seeded(Number(process.env.CAIRN_SEED ?? 1));
const pick = (list) => list[Math.floor(random() * list.length)];

const TREES = ['oak', 'elm', 'birch', 'maple', 'pine', 'cedar'];
const HANDBOOKS = TREES.map((tree, t) =>
  Array.from({ length: 30 }, (_, i) => `The key of the ${tree} room ${i} lies under stone ${(i * 7 + t) % 31}.`).join(' '));
const QUESTIONS = ['Where is the key of room 3?', 'Hello', 'What lies under stone 9?', 'Which rooms are there?'];
const requests = HANDBOOKS.flatMap((system) => QUESTIONS.map((user) => ({ system, user })));

async function ask(server, { system, user }) {
  const answer = await server.client.chat.completions.create({
    model: 'any', temperature: 0, max_tokens: 12,
    messages: [{ role: 'system', content: system }, { role: 'user', content: user }],
  });
  return { text: answer.choices[0].message.content, cached: answer.usage.prompt_tokens_details.cached_tokens };
}

async function expectedAnswers() {
  const server = await startServer('--no-cache', '-np', '1');
  const texts = new Map();
  for (const request of requests) texts.set(request, (await ask(server, request)).text);
  await server.stop();
  return texts;
}

const expected = await expectedAnswers();
const folder = temporaryFolder();
let answers = 0;
let warm = 0;
let wrong = 0;
for (let round = 1; round <= ROUNDS; ++round) {
  const server = await startServer('--cache-dir', folder, '--cache-ram', '64M', '--cache-disk', '64M');
  let alive = true;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (alive) {
      const request = pick(requests);
      try {
        const { text, cached } = await ask(server, request);
        ++answers;
        if (cached > 0) ++warm;
        if (text !== expected.get(request)) {
          ++wrong;
          console.error(`round ${round}: ${JSON.stringify(text)} instead of ${JSON.stringify(expected.get(request))}`);
        }
      } catch (error) {
        if (alive) throw error;
      }
    }
  });
  await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_LIFE_MS));
  alive = false;
  await server.stop('SIGKILL');
  await Promise.all(clients);
  if (round % 20 === 0) console.log(`${round} rounds: ${answers} answers, ${warm} of them warm, ${wrong} wrong`);
}
const verified = spawnSync(process.env.CAIRN_BIN, ['cache', 'verify', '--cache-dir', folder], { encoding: 'utf8' });
console.log(verified.stdout.trim());
assert.equal(verified.status, 0, verified.stderr);
assert.ok(warm > 0, 'nothing was ever reused: this soak shows nothing');
assert.equal(wrong, 0);
console.log(`${ROUNDS} kills: 0 failed starts, 0 wrong answers of ${answers}`);
