// `cairn cache`, on a server that runs and on the directory it leaves.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from './server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'cairn-cache-'));
const directory = join(folder, 'cache');
const run = (...words) => {
  const result = spawnSync(process.env.CAIRN_BIN, ['cache', ...words], { encoding: 'utf8', timeout: 120000 });
  return { status: result.status, said: result.stdout + result.stderr, json: () => JSON.parse(result.stdout) };
};
const here = ['--cache-dir', directory];
const snapshots = () => run('ls', '--json', ...here).json().namespaces.flatMap((ns) => ns.snapshots);
const handbook = join(folder, 'handbook.txt');
writeFileSync(handbook, 'You answer questions about the handbook.\n\nThe gate code of Ash Room is 4711.\n'.repeat(3));

test('a cache directory that is not there is an error, and is not made', () => {
  const { status, said } = run('ls', ...here);
  assert.equal(status, 2, said);
  assert.match(said, /there is no cache directory/);
});

test('a running server is warmed, listed, verified, exported and collected; the directory then says the same', async () => {
  const server = await startServer('--cache-dir', directory);
  const warmed = run('warm', '--json', ...here, handbook);
  assert.equal(warmed.status, 0, warmed.said);
  const [{ id, tokens }] = warmed.json();
  const answer = await server.client.completions.create({ model: 'x', prompt: 'Something else. '.repeat(20), max_tokens: 2 });
  assert.ok(answer.usage.prompt_tokens > 10);

  const listed = snapshots().find((snapshot) => snapshot.id === id);
  assert.equal(listed.tokens, tokens - 1);
  assert.ok(listed.tiers.includes('disk'));
  assert.match(run('ls', ...here).said, /You answer questions about the handbook\.\\n\\nThe gate/);
  assert.match(run('stat', ...here).said, /disk +[\d.]+ \w+ of /);
  assert.equal(run('verify', ...here).status, 0);
  const exported = run('export', ...here, String(id), join(folder, 'handbook.cairn'));
  assert.equal(exported.status, 0, exported.said);
  assert.ok(statSync(join(folder, 'handbook.cairn')).size > 1000);
  const again = run('export', ...here, String(id), join(folder, 'handbook.cairn'));
  assert.equal(again.status, 2, again.said);
  assert.match(again.said, /--force/);
  assert.equal(run('export', '--force', ...here, String(id), join(folder, 'handbook.cairn')).status, 0);
  assert.equal(run('rm', ...here, '999999').status, 2);
  assert.match(run('rm', ...here, '-1').said, /not a snapshot id/);
  assert.equal(run('import', ...here, handbook).status, 2, 'a text is no archive');
  const removed = run('rm', ...here, String(id));
  assert.equal(removed.status, 0, removed.said);
  assert.ok(!snapshots().some((snapshot) => snapshot.id === id));
  const imported = run('import', '--json', ...here, join(folder, 'handbook.cairn'));
  assert.equal(imported.status, 0, imported.said);
  assert.equal(imported.json().was_there, false);
  assert.equal(run('import', '--json', ...here, join(folder, 'handbook.cairn')).json().was_there, true);
  assert.equal(await server.stop(), 0);

  const left = snapshots();
  assert.ok(left.some((snapshot) => snapshot.id === imported.json().id));
  assert.equal(run('verify', ...here).status, 0);
});

test('a text that is missing is noticed before the model is loaded, and gc wants a limit', () => {
  const { status, said } = run('warm', ...here, '-m', process.env.CAIRN_MODEL, handbook, join(folder, 'missing.txt'));
  assert.equal(status, 2, said);
  assert.match(said, /missing\.txt/);
  const limitless = run('gc', ...here);
  assert.equal(limitless.status, 2, limitless.said);
  assert.match(limitless.said, /needs a limit/);
});

test('a directory that nobody uses is warmed with a model of its own, and emptied', () => {
  const warmed = run('warm', '--json', ...here, '-m', process.env.CAIRN_MODEL, '-t', '1', handbook);
  assert.equal(warmed.status, 0, warmed.said);
  assert.ok(warmed.json()[0].cached_tokens > 0, 'the import above is of use');
  const collected = run('gc', '--json', ...here, '--max-bytes', '0');
  assert.equal(collected.status, 0, collected.said);
  assert.ok(collected.json().removed.length > 0);
  assert.match(run('ls', ...here).said, /nothing is cached/);
});
