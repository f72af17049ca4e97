// What the program says when it cannot start, and that it ends with a status of its own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from './server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'cairn-e2e-'));
const run = (...words) => {
  const env = { ...process.env, XDG_CACHE_HOME: folder };
  const result = spawnSync(process.env.CAIRN_BIN, words, { encoding: 'utf8', timeout: 60000, env });
  return { status: result.status, said: result.stderr + result.stdout };
};

test('a model file that is none is told apart: missing, foreign, truncated', () => {
  const foreign = join(folder, 'foreign.gguf');
  writeFileSync(foreign, 'this is no model, but it is long enough to be looked at');
  const truncated = join(folder, 'truncated.gguf');
  writeFileSync(truncated, readFileSync(process.env.CAIRN_MODEL).subarray(0, 200000));
  for (const [file, words] of [
    [join(folder, 'missing.gguf'), /there is no model file/],
    [folder, /is a directory/],
    [foreign, /is not a GGUF file/],
    [truncated, /is truncated/],
  ]) {
    const { status, said } = run('serve', '-m', file, '--port', '0');
    assert.equal(status, 3, said);
    assert.match(said, words);
  }
});

test('a port that is taken is named', async () => {
  const server = await startServer();
  const port = new URL(server.url).port;
  const { status, said } = run('serve', '-m', process.env.CAIRN_MODEL, '--port', port);
  assert.equal(status, 5, said);
  assert.match(said, new RegExp(`port ${port}.* in use`));
  assert.equal(await server.stop(), 0);
});

test('run answers once', () => {
  const { status, said } = run('run', '-m', process.env.CAIRN_MODEL, '-p', 'Hello', '--temp', '0', '-t', '1', '--quiet');
  assert.equal(status, 0, said);
  assert.match(said, /Hello!/);
});

test('the demo\'s warm answers equal the cold ones', () => {
  const result = spawnSync(process.env.CAIRN_BIN, ['demo', '--json', '--questions', '4', '-t', '1'], {
    encoding: 'utf8',
    timeout: 120000,
  });
  assert.equal(result.status, 0, result.stderr + result.stdout);
  const report = JSON.parse(result.stdout);
  const warm = report.rows.filter((row) => row.mode === 'warm');
  assert.equal(warm.length, 4);
  for (const row of warm) {
    assert.ok(row.equals_cold);
    assert.ok(row.cached_tokens >= report.summary.handbook_tokens);
  }
  assert.ok(warm.some((row) => row.cut === 'inside question'));
});
