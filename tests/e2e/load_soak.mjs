// A mix of everything at once, for CAIRN_SECONDS: chats that share prefixes alone and in groups, several samples, streams,
// clients that leave, requests that are wrong, more requests than may wait, and budgets too small for all of it. Every
// answer equals the one of a server without a cache; at the end nothing runs, memory is flat and the budgets are kept.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startServer, temporaryFolder } from './server.mjs';
import { ask, body, expectedAnswers, pick, random, requests, sleep } from './soak_workload.mjs';

const SECONDS = Number(process.env.CAIRN_SECONDS ?? 300);
const CLIENTS = 16;
/** What memory may grow by after the first fifth of the time: allocators keep what they freed. */
const GROWTH_MIB = 48;

const count = { answers: 0, wrong: 0, left: 0, refused: 0, turned_away: 0, samples: 0, groups: 0, cached: 0 };

const residentMib = (pid) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;

async function metrics(server) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return (name) => Number(text.match(new RegExp(`^cairn_${name} (\\S+)$`, 'm'))?.[1] ?? NaN);
}

function check(request, text) {
  ++count.answers;
  if (text === expected.get(request)) return;
  ++count.wrong;
  console.error(`${JSON.stringify(text)} instead of ${JSON.stringify(expected.get(request))}`);
}

async function askOne(server) {
  const request = pick(requests);
  const { text, cached } = await ask(server, request);
  if (cached > 0) ++count.cached;
  check(request, text);
}

async function streamOne(server) {
  const request = pick(requests);
  let text = '';
  for await (const chunk of await server.client.chat.completions.create({ ...body(request), stream: true })) {
    text += chunk.choices[0]?.delta?.content ?? '';
  }
  check(request, text);
}

async function askGroup(server) {
  ++count.groups;
  const { system } = pick(requests);
  const results = await Promise.allSettled(requests.filter((r) => r.system === system)
    .map(async (request) => check(request, (await ask(server, request)).text)));
  for (const { reason } of results) if (reason) throw reason;
}

async function sample(server) {
  const request = pick(requests);
  const answer = await server.client.chat.completions.create({ ...body(request), n: 3 });
  assert.equal(answer.choices.length, 3);
  for (const choice of answer.choices) {
    ++count.samples;
    check(request, choice.message.content);
  }
}

async function leave(server) {
  const leaving = new AbortController();
  const asked = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST', signal: leaving.signal, headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body(pick(requests)), stream: random() < 0.5, max_tokens: 200 }),
  }).then((response) => response.text());
  asked.catch(() => {});
  await sleep(random() * 60);
  leaving.abort();
  await asked.catch(() => {});
  ++count.left;
}

const WRONG = [
  '{"messages": [', '{}', '[]', 'null', '"text"',
  JSON.stringify({ messages: [] }),
  JSON.stringify({ messages: [{ role: 'user', content: 'x' }], max_tokens: -5 }),
  JSON.stringify({ messages: [{ role: 'user', content: 'x' }], temperature: 'hot' }),
  JSON.stringify({ messages: [{ role: 'user', content: 'x' }], n: 100000 }),
  JSON.stringify({ messages: [{ role: 'user', content: 'stone '.repeat(20000) }] }),
];
async function sendWrong(server) {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: pick(WRONG),
  });
  const { error } = await response.json();
  assert.ok(response.status >= 400 && response.status < 500, `status ${response.status}`);
  assert.ok(error.message.length > 10);
  ++count.refused;
}

const ACTIONS = [askOne, askOne, askOne, streamOne, streamOne, askGroup, sample, leave, leave, sendWrong];

const expected = await expectedAnswers();
const server = await startServer('-np', '6', '-c', '2048', '--cache-dir', temporaryFolder(), '--cache-ram', '64M',
  '--cache-disk', '24M', '--cache-device', '2M', '--max-waiting', '12', '--max-snapshots', '40');
const began = Date.now();
const elapsed = () => (Date.now() - began) / 1000;
let settledMib = 0;
let mostMib = 0;

const clients = Array.from({ length: CLIENTS }, async () => {
  while (elapsed() < SECONDS) {
    try {
      await pick(ACTIONS)(server);
    } catch (error) {
      if (error.status !== 503) throw error;
      ++count.turned_away;
      assert.ok(Number(error.headers.get('retry-after')) >= 1, 'a refusal says when to come again');
      await sleep(50 + random() * 100);
    }
  }
});
const watcher = (async () => {
  let told = 0;
  while (elapsed() < SECONDS) {
    await sleep(500);
    const now = residentMib(server.pid);
    if (elapsed() < SECONDS / 5) settledMib = Math.max(settledMib, now);
    mostMib = Math.max(mostMib, now);
    const metric = await metrics(server);
    for (const tier of ['ram', 'disk', 'device']) {
      assert.ok(metric(`${tier}_bytes`) <= metric(`${tier}_budget_bytes`), `the ${tier} budget is exceeded`);
    }
    assert.ok(metric('snapshots') <= 40, 'more snapshots than --max-snapshots');
    if (elapsed() > told + 30) {
      told = elapsed();
      console.log(`${Math.round(told)} s: ${JSON.stringify(count)}, ${Math.round(now)} MiB`);
    }
  }
})();
await Promise.all([...clients, watcher]);

let metric = await metrics(server);
for (let i = 0; i < 100 && metric('requests_running') + metric('requests_waiting') > 0; ++i) {
  await sleep(100);
  metric = await metrics(server);
}
assert.equal(metric('requests_running'), 0, 'requests are left');
assert.equal(metric('requests_waiting'), 0, 'requests are left');
assert.equal(await server.stop(), 0);
assert.ok(mostMib <= settledMib + GROWTH_MIB, `memory grew from ${settledMib} to ${mostMib} MiB`);
for (const [what, times] of Object.entries(count)) {
  if (what !== 'wrong' && what !== 'turned_away') assert.ok(times > 0, `there was no ${what}: this soak shows nothing`);
}
assert.equal(count.wrong, 0);
console.log(`${SECONDS} s: ${JSON.stringify(count)}; ${Math.round(settledMib)} MiB after a fifth, at most ${Math.round(mostMib)}`);
