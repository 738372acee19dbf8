// The built client against a real server, whose address and key the environment says.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Codexmem, CodexmemError } from '../dist/index.js';

const { CODEXMEM_URL: url, CODEXMEM_API_KEY: key } = process.env;
const memory = new Codexmem({ url, key });
const TEXT = '支付网关 needs up to 20 seconds under load.';

test('what is saved is found, told and explained', async () => {
  const saved = await memory.remember(TEXT, { project: 'shop', title: 'Payment gateway' });
  assert.equal(typeof saved.id, 'number');
  const found = await memory.search('payment gateway', { project: 'shop', limit: 5 });
  assert.deepEqual(
    found.observations.map((each) => each.id),
    [saved.id],
  );
  const told = await memory.context('shop');
  assert.ok(told.text.includes(TEXT), told.text);
  assert.ok(told.tokens > 0);
  const page = await memory.get('/api/memories', { query: { project: 'shop', kind: ['observation', 'note'] } });
  assert.deepEqual(
    page.items.map((each) => each.title),
    ['Payment gateway'],
  );
  const why = await memory.get('/api/provenance/{ref}', { path: { ref: `#${saved.id}` } });
  assert.ok(JSON.stringify(why).includes('Payment gateway'));
});

test('a call repeated under one key saves once', async () => {
  const wish = { project: 'once', title: 'Once', once: 'key-1' };
  const [first, again] = [await memory.remember('Said once.', wish), await memory.remember('Said once.', wish)];
  assert.equal(first.id, again.id);
  await assert.rejects(memory.remember('Something else.', wish), (error) => error.code === 'conflict');
});

test('errors say what, why and what next', async () => {
  const stranger = new Codexmem({ url, key: 'cm_not_a_key' });
  await assert.rejects(stranger.search('x'), (error) => {
    assert.ok(error instanceof CodexmemError);
    return error.status === 401 && error.code === 'unauthorized' && error.message !== '';
  });
  await assert.rejects(memory.get('/api/provenance/{ref}', { path: { ref: '#999999' } }), {
    code: 'not_found',
    status: 404,
  });
  await assert.rejects(memory.get('/api/search', { query: { query: 'x', limit: 'many' } }), {
    code: 'invalid_argument',
  });
});

test('a server that is away, slow or broken is told apart', async () => {
  const answers = {
    '/slow': () => {},
    '/half': (reply) => reply.writeHead(200, { 'Content-Type': 'application/json' }).end('{"a'),
  };
  const server = createServer((request, reply) =>
    (answers[new URL(request.url, 'http://x').pathname] ?? answers['/half'])(reply),
  );
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const at = `http://127.0.0.1:${server.address().port}`;
  await assert.rejects(new Codexmem({ url: at, timeoutMs: 200 }).get('/slow'), { code: 'timeout' });
  await assert.rejects(new Codexmem({ url: at }).get('/half'), { code: 'bad_answer' });
  const stopped = AbortSignal.abort(new Error('enough'));
  await assert.rejects(new Codexmem({ url: at }).get('/slow', { signal: stopped }), { message: 'enough' });
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await assert.rejects(
    new Codexmem({ url: at }).get('/api/stats'),
    (error) => error.code === 'unreachable' && error.hint !== null,
  );
});

test('a key is not sent in the clear to another machine', () => {
  assert.throws(() => new Codexmem({ url: 'http://memory.example.org', key: 'x' }), { code: 'invalid_argument' });
  assert.equal(new Codexmem({ url: 'https://memory.example.org/', key: 'x' }).url, 'https://memory.example.org');
});
