// Starts the program under test and talks to it: CAIRN_BIN names the program, CAIRN_MODEL the model.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';

const START_SECONDS = 120;

const folders = [];
process.on('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A folder of its own, removed when the tests end. */
export function temporaryFolder() {
  folders.push(mkdtempSync(join(tmpdir(), 'cairn-e2e-')));
  return folders.at(-1);
}

/**
 * Starts `cairn serve` on a free port. Resolves once it listens; rejects with its output where it does not. Unless the
 * flags name a cache directory it begins with an empty one.
 */
export function startServer(...flags) {
  const child = spawn(process.env.CAIRN_BIN, ['serve', '-m', process.env.CAIRN_MODEL, '--port', '0', '-t', '1', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, XDG_CACHE_HOME: temporaryFolder() },
  });
  let output = '';
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${why}:\n${output}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('the server did not listen in time');
    }, START_SECONDS * 1000);
    child.on('exit', (code) => fail(`the server ended with status ${code}`));
    child.stderr.on('data', (data) => {
      output += data;
      const url = output.match(/listening on (http:\S+)/);
      if (!url) return;
      clearTimeout(timer);
      resolve({
        url: url[1],
        pid: child.pid,
        client: new OpenAI({ baseURL: `${url[1]}/v1`, apiKey: 'none', maxRetries: 0 }),
        output: () => output,
        stop: (signal = 'SIGTERM') =>
          new Promise((stopped) => {
            if (child.exitCode !== null) return stopped(child.exitCode);
            child.removeAllListeners('exit');
            child.on('exit', (code) => stopped(code));
            child.kill(signal);
          }),
      });
    });
  });
}
