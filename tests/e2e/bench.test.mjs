// `cairn bench` against a server: everything is answered, and next to nothing is computed twice.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { startServer, temporaryFolder } from './server.mjs';

/** Status and output of the program. */
function run(...words) {
  const child = spawn(process.env.CAIRN_BIN, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (data) => (output += data));
  return new Promise((resolve) => child.on('exit', (status) => resolve({ status, output })));
}

test('edits, a shared prefix and prompts that share nothing, measured against the ideal', async () => {
  const server = await startServer();
  const json = join(temporaryFolder(), 'result.json');
  const html = join(temporaryFolder(), 'result.html');
  const names = ['edits', 'concurrent', 'no-reuse-4', 'restart'];
  const workloads = names.flatMap((name) => ['--workload', name]);
  const done = await run('bench', '--url', server.url, ...workloads, '--scale', '0.2', '--steady-answers', '--json', json, '--html', html);
  assert.equal(done.status, 0, done.output);
  const result = JSON.parse(readFileSync(json, 'utf8'));
  assert.equal(result.ideal_counted_in, 'tokens');
  assert.deepEqual(result.workloads.map((workload) => workload.name), names);
  assert.match(result.workloads[3].skipped, /--restart-with/);
  for (const { name, summary, requests } of result.workloads.slice(0, 3)) {
    assert.equal(summary.failed, 0, name);
    assert.equal(summary.requests, requests.length, name);
    assert.ok(summary.first_token_sum_s > 0 && summary.tokens_per_s > 0, name);
    assert.ok(summary.computed_tokens >= summary.ideal_tokens, `${name}: ${summary.computed_tokens} of ${summary.ideal_tokens}`);
    // Three tokens more for each request: a prompt's last one, and what a user message is cut at.
    assert.ok(summary.computed_tokens <= summary.ideal_tokens + 6 * requests.length,
      `${name}: ${summary.computed_tokens} of ${summary.ideal_tokens} in ${requests.length} requests`);
  }
  assert.match(readFileSync(html, 'utf8'), /<svg/);
  const report = await run('bench', '--from', `one=${json}`, '--from', `two=${json}`);
  assert.equal(report.status, 0, report.output);
  assert.match(report.output, /concurrent/);
  assert.equal(await server.stop(), 0);
});

test('two servers are asked the same, each request of one and then of the other', async () => {
  const servers = [await startServer(), await startServer('--cache-ram', '0', '--cache-disk', '0')];
  const folder = temporaryFolder();
  const files = servers.map((server, i) => join(folder, `${i}.json`));
  const places = servers.flatMap((server, i) => ['--url', server.url, '--json', files[i], '--restart-with', 'true']);
  const done = await run('bench', ...places, '--workload', 'multi-turn', '--workload', 'concurrent', '--workload', 'restart',
    '--scale', '0.1', '--steady-answers');
  assert.equal(done.status, 0, done.output);
  assert.match(done.output, new RegExp(`${servers[0].url} / ${servers[1].url}`));
  const [one, other] = files.map((file) => JSON.parse(readFileSync(file, 'utf8')));
  assert.deepEqual(one.workloads.map((workload) => workload.requests.map((request) => request.prompt_tokens)),
    other.workloads.map((workload) => workload.requests.map((request) => request.prompt_tokens)));
  const times = (run) => run.workloads[0].requests.map((request) => request.started_s);
  // Turn after turn, and first the one, then the other: none of a server's turns lies between two of the other's alone.
  const order = [...times(one).map((at) => ['one', at]), ...times(other).map((at) => ['other', at])]
    .sort((a, b) => a[1] - b[1]).map(([name]) => name);
  for (let i = 0; i < order.length; i += 2) assert.notEqual(order[i], order[i + 1], order.join(' '));
  assert.notEqual(order[0], order[2], 'who is first changes');
  const few = await run('bench', ...places, '--json', join(folder, 'third.json'));
  assert.equal(few.status, 2, few.output);
  assert.match(few.output, /a file for each server/);
  const twice = join(folder, 'same.json');
  const same = await run('bench', ...servers.flatMap((server) => ['--url', server.url, '--json', twice]));
  assert.equal(same.status, 2, same.output);
  assert.match(same.output, /named twice/);
  assert.ok(!existsSync(twice), 'nothing is left where nothing was asked');
  for (const server of servers) assert.equal(await server.stop(), 0);
});

test('what cannot be measured is said', async () => {
  const nobody = await run('bench', '--url', 'http://127.0.0.1:1', '--workload', 'edits');
  assert.equal(nobody.status, 5, nobody.output);
  assert.match(nobody.output, /--url/);
  const unknown = await run('bench', '--workload', 'nothing-of-this-name');
  assert.notEqual(unknown.status, 0);
  assert.match(unknown.output, /nothing-of-this-name/);
});
