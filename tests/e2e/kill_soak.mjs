// kill -9 at random moments under traffic: `make soak`. Every answer equals the one of a server without a cache, every
// start succeeds, and at the end all files are whole. CAIRN_ROUNDS rounds, seeded by CAIRN_SEED.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { startServer, temporaryFolder } from './server.mjs';
import { ask, expectedAnswers, pick, random, requests } from './soak_workload.mjs';

const ROUNDS = Number(process.env.CAIRN_ROUNDS ?? 200);
const CLIENTS = 3;
const LONGEST_LIFE_MS = 1500;

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
