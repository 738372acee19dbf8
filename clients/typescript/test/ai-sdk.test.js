// The middleware in an agent of Vercel's AI SDK, against a real server and a model that plays a script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { codexmemMiddleware } from '../dist/ai-sdk.js';
import { Codexmem } from '../dist/index.js';

const { CODEXMEM_URL: url, CODEXMEM_API_KEY: key, MODEL_URL: baseURL, STEP } = process.env;
const scripted = createOpenAICompatible({ name: 'scripted', baseURL }).chatModel('scripted');
const schema = { type: 'object', properties: { environment: { type: 'string' } }, required: ['environment'] };
const deploy = tool({
  description: 'Deploy the shop.',
  inputSchema: jsonSchema(schema),
  execute: async ({ environment }) => `deployed to ${environment} in 40 s`,
});

function remembering(memory, options = {}) {
  const middleware = codexmemMiddleware(memory, { project: 'ai-sdk', session: 'a-conversation', ...options });
  return wrapLanguageModel({ model: scripted, middleware });
}

const steps = {
  async generate() {
    const model = remembering(new Codexmem({ url, key }));
    const prompt = 'Deploy the shop, please.';
    const done = await generateText({ model, tools: { deploy }, stopWhen: isStepCount(3), prompt });
    assert.equal(done.text, 'The shop was deployed to staging with DEPLOY_WAIT=90 and answers.');
  },
  async stream() {
    const model = remembering(new Codexmem({ url, key }));
    const messages = [
      { role: 'user', content: 'Deploy the shop, please.' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'How many servers does the shop have?' },
    ];
    const said = [];
    for await (const part of streamText({ model, tools: { deploy }, messages }).textStream) said.push(part);
    assert.equal(said.join(''), 'Eight.');
  },
  async away() {
    const problems = [];
    const nobody = new Codexmem({ url: 'http://127.0.0.1:9' });
    const model = remembering(nobody, { onError: (problem) => problems.push(problem.code) });
    const { text } = await generateText({ model, tools: { deploy }, prompt: 'Go on.' });
    assert.equal(text, 'Without.');
    assert.deepEqual(problems, ['unreachable', 'unreachable', 'unreachable']);
  },
};

test(STEP, steps[STEP]);
