// Compiled and never run: what the types must refuse.
import { Codexmem, type Schemas } from '../dist/index.js';

const memory = new Codexmem();
export const saved: Promise<Schemas['Saved']> = memory.post('/api/memory/save', { body: { text: 'x' } });
export const tokens: Promise<number> = memory
  .get('/api/context/preview', { query: { project: 'p' } })
  .then((told) => told.tokens);
// @ts-expect-error there is no such path
void memory.get('/api/nosuch');
// @ts-expect-error a path that only takes POST
void memory.get('/api/memory/save');
// @ts-expect-error a number is wanted
void memory.get('/api/context/preview', { query: { tokens: 'many' } });
// @ts-expect-error a text is wanted
void memory.post('/api/memory/save', { body: { text: 7 } });
