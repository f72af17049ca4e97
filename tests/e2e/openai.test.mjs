import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { startServer } from './server.mjs';

let server;
let client;
before(async () => {
  server = await startServer();
  client = server.client;
});
after(async () => {
  assert.equal(await server.stop(), 0, 'SIGTERM ends the server with status 0');
});

const handbook =
  'You answer questions about the handbook.\n\n' +
  Array.from({ length: 40 }, (_, i) => `The gate code of Ash Room ${i} is ${4000 + i}.`).join('\n');
const chat = (content, more = {}) => ({
  model: 'demo',
  messages: [
    { role: 'system', content: handbook },
    { role: 'user', content },
  ],
  temperature: 0,
  max_tokens: 24,
  ...more,
});
const cached = (answer) => answer.usage.prompt_tokens_details.cached_tokens;

test('a chat is answered, and its shape is what the client expects', async () => {
  const answer = await client.chat.completions.create(chat('Hello'));
  assert.equal(answer.object, 'chat.completion');
  assert.equal(answer.choices[0].message.role, 'assistant');
  assert.ok(answer.choices[0].message.content.length > 0);
  assert.ok(['stop', 'length'].includes(answer.choices[0].finish_reason));
  assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
});

test('a warm answer equals the cold one and says what was reused', async () => {
  const question = 'What is the gate code of Ash Room 7?';
  const cold = await client.chat.completions.create(chat(question, { cache_prompt: false }));
  assert.equal(cached(cold), 0);
  await client.chat.completions.create(chat(question));
  const { data: warm, response } = await client.chat.completions.create(chat(question)).withResponse();
  assert.equal(warm.choices[0].message.content, cold.choices[0].message.content);
  assert.equal(cached(warm), warm.usage.prompt_tokens - 1);
  assert.match(response.headers.get('x-cairn-cache'), /^hit; cached=\d+; prompt=\d+; tier=(device|ram)/);
});

test('another question on the same handbook computes only itself', async () => {
  await client.chat.completions.create(chat('Who are you?'));
  const answer = await client.chat.completions.create(chat('What is the gate code of Ash Room 12?'));
  assert.ok(cached(answer) >= answer.usage.prompt_tokens - 40, `${cached(answer)} of ${answer.usage.prompt_tokens}`);
});

test('a stream gives the same text, and its usage at the end', async () => {
  const whole = await client.chat.completions.create(chat('Hello'));
  const stream = await client.chat.completions.create(
    chat('Hello', { stream: true, stream_options: { include_usage: true } }),
  );
  let text = '';
  let usage = null;
  let finish = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, whole.choices[0].message.content);
  assert.equal(finish, whole.choices[0].finish_reason);
  assert.equal(usage.completion_tokens, whole.usage.completion_tokens);
});

test('message parts count as text', async () => {
  const plain = await client.chat.completions.create(chat('Hello'));
  const parts = await client.chat.completions.create(chat([{ type: 'text', text: 'Hello' }]));
  assert.equal(parts.choices[0].message.content, plain.choices[0].message.content);
  assert.equal(parts.usage.prompt_tokens, plain.usage.prompt_tokens);
});

test('several choices come back in order', async () => {
  const answer = await client.chat.completions.create(chat('Hello', { n: 3 }));
  assert.deepEqual(
    answer.choices.map((choice) => choice.index),
    [0, 1, 2],
  );
  assert.equal(new Set(answer.choices.map((choice) => choice.message.content)).size, 1, 'greedy choices are alike');
});

test('a completion takes token ids, and the same ids give the same text', async () => {
  const request = { model: 'demo', prompt: [5, 6, 7, 8, 9, 10], max_tokens: 8, temperature: 0, logprobs: 2 };
  const first = await client.completions.create(request);
  const second = await client.completions.create(request);
  assert.equal(first.usage.prompt_tokens, 6);
  assert.equal(first.choices[0].text, second.choices[0].text);
  assert.equal(first.choices[0].logprobs.tokens.length, first.choices[0].logprobs.token_logprobs.length);
  assert.equal(cached(second), 5);
});

test('a raw prompt may spell control tokens, and a message never does', async () => {
  const raw = await client.completions.create({ model: 'demo', prompt: '<|im_start|>', max_tokens: 1 });
  assert.equal(raw.usage.prompt_tokens, 1);
  const plain = await client.chat.completions.create(chat('x', { max_tokens: 1 }));
  const spelled = await client.chat.completions.create(chat('x<|im_end|>', { max_tokens: 1 }));
  assert.ok(spelled.usage.prompt_tokens > plain.usage.prompt_tokens + 1, 'the spelling is several tokens of text');
});

test('logprobs are there when asked for', async () => {
  const answer = await client.chat.completions.create(chat('Hello', { logprobs: true, top_logprobs: 3 }));
  const content = answer.choices[0].logprobs.content;
  assert.ok(content.length > 0);
  assert.equal(content[0].top_logprobs.length, 3);
  assert.equal(content[0].token, content[0].top_logprobs[0].token, 'greedy takes the most likely');
  assert.ok(content[0].logprob <= 0);
});

test('a stream that is aborted leaves the server free for the next', async () => {
  for (let round = 0; round < 3; ++round) {
    const stream = await client.chat.completions.create(
      chat('Hello', { stream: true, max_tokens: 4000, ignore_eos: true }),
    );
    let chunks = 0;
    for await (const _ of stream) {
      if (++chunks === 3) break; // the client closes the connection
    }
    assert.equal(chunks, 3);
  }
  const answer = await client.chat.completions.create(chat('Hello'));
  assert.ok(answer.choices[0].message.content.length > 0);
  let running = 1;
  for (let attempt = 0; attempt < 100 && running > 0; ++attempt) {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    running = Number(metrics.match(/^cairn_requests_running (\d+)/m)[1]);
  }
  assert.equal(running, 0, 'aborted requests do not run on');
});

test('errors become the client\'s own exceptions', async () => {
  await assert.rejects(client.chat.completions.create(chat('x', { temperature: 'hot' })), OpenAI.BadRequestError);
  await assert.rejects(
    client.completions.create({ model: 'demo', prompt: Array(20000).fill(5) }),
    (error) => error instanceof OpenAI.BadRequestError && error.code === 'context_length_exceeded',
  );
  await assert.rejects(client.embeddings.create({ model: 'demo', input: 'x' }), OpenAI.NotFoundError);
});

test('models and health answer', async () => {
  const models = await client.models.list();
  assert.equal(models.data.length, 1);
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
});
