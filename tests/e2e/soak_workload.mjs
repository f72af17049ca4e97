// What the soaks ask: chats that share their system prompts in groups, and the answers of a server without a cache.
import { startServer } from './server.mjs';

/** mulberry32: the same moments and prompts for the same seed (CAIRN_SEED). */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const random = seeded(Number(process.env.CAIRN_SEED ?? 1));
export const pick = (list) => list[Math.floor(random() * list.length)];
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const TREES = ['oak', 'elm', 'birch', 'maple', 'pine', 'cedar'];
const HANDBOOKS = TREES.map((tree, t) =>
  Array.from({ length: 30 }, (_, i) => `The key of the ${tree} room ${i} lies under stone ${(i * 7 + t) % 31}.`).join(' '));
const QUESTIONS = ['Where is the key of room 3?', 'Hello', 'What lies under stone 9?', 'Which rooms are there?'];
export const requests = HANDBOOKS.flatMap((system) => QUESTIONS.map((user) => ({ system, user })));

export const body = ({ system, user }) => ({
  model: 'any', temperature: 0, max_tokens: 12,
  messages: [{ role: 'system', content: system }, { role: 'user', content: user }],
});

export async function ask(server, request) {
  const answer = await server.client.chat.completions.create(body(request));
  return { text: answer.choices[0].message.content, cached: answer.usage.prompt_tokens_details.cached_tokens };
}

/** request -> the text of a server that caches nothing and runs one request at a time. */
export async function expectedAnswers() {
  const server = await startServer('--no-cache', '-np', '1');
  const texts = new Map();
  for (const request of requests) texts.set(request, (await ask(server, request)).text);
  await server.stop();
  return texts;
}
