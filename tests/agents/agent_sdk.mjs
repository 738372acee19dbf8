// An agent built with the Claude Agent SDK: asked once, with the plugin in a folder if there is one.
import { pathToFileURL } from 'node:url';

const [sdk, prompt, allowed, plugin] = process.argv.slice(2);
const { query } = await import(pathToFileURL(sdk).href);
const plugins = plugin ? [{ type: 'local', path: plugin }] : [];
const options = { plugins, settingSources: [], allowedTools: allowed.split(','), model: 'scripted', env: process.env };
for await (const message of query({ prompt, options })) {
  if (message.type !== 'result') continue;
  console.log(message.result ?? JSON.stringify(message));
  if (message.is_error) process.exitCode = 1;
}
