// What is there after the server was stopped or killed: the same answers, without computing them again.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startServer, temporaryFolder } from './server.mjs';

const PROMPT = Array.from({ length: 40 }, (_, i) => `Room ${i} is named after the ${i}th tree of the garden.`).join(' ');

async function ask(server, prompt) {
  const answer = await server.client.completions.create({ model: 'any', prompt, max_tokens: 8, temperature: 0 });
  return {
    text: answer.choices[0].text,
    prompt: answer.usage.prompt_tokens,
    cached: answer.usage.prompt_tokens_details.cached_tokens,
  };
}

async function metric(server, name) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Waits until nothing has been written for a while. Bounded. */
async function settled(server) {
  let before = -1;
  for (let i = 0; i < 60; ++i) {
    const written = await metric(server, 'cairn_snapshots_written_total');
    if (written > 0 && written === before) return;
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.fail('nothing was written to disk');
}

test('a restart computes one token of a prompt it knows, and says the same', async () => {
  const folder = temporaryFolder();
  let server = await startServer('--cache-dir', folder);
  const first = await ask(server, PROMPT);
  assert.equal(first.cached, 0);
  assert.equal(await server.stop('SIGTERM'), 0);
  server = await startServer('--cache-dir', folder);
  const again = await ask(server, PROMPT);
  assert.equal(again.text, first.text);
  assert.equal(again.cached, first.prompt - 1);
  await server.stop('SIGKILL');
});

test('so does a start after kill -9, once the answer has settled', async () => {
  const folder = temporaryFolder();
  let server = await startServer('--cache-dir', folder);
  const first = await ask(server, PROMPT);
  await settled(server);
  await server.stop('SIGKILL');
  server = await startServer('--cache-dir', folder);
  const again = await ask(server, PROMPT);
  assert.equal(again.text, first.text);
  assert.equal(again.cached, first.prompt - 1);
  assert.equal(await metric(server, 'cairn_disk_failures_total'), 0);
  assert.equal(await server.stop('SIGTERM'), 0);
});

test('a second server on the same directory is refused and told who has it', async () => {
  const folder = temporaryFolder();
  const server = await startServer('--cache-dir', folder);
  await assert.rejects(startServer('--cache-dir', folder), /is in use by pid \d+, cairn serve/);
  assert.equal(await server.stop('SIGTERM'), 0);
});
