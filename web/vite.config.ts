// Builds the application into the Python package, where the server finds it; `npm run dev` serves it beside a running
// server, whose address CODEXMEM_URL names.
import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const server = process.env['CODEXMEM_URL'] ?? 'http://127.0.0.1:37877';
const LIBRARIES =
  /node_modules\/(@mantine|@tanstack|@tabler|@floating-ui|react|react-dom|scheduler|react-i18next|i18next|openapi-fetch|clsx)\//;

// What is done with memories, and what only the lab's pages ask for, is wanted there, not at a first visit.
const ACTS =
  'parts\\/(?:acts\\/|use(?:Queue|Decisions|WaitingKeys|Settled|Why)|DecisionBar|queuePlace|ProjectSelect|SavedViews|MemoryText|JsonView)|api\\/(?:life|undo|lab|catalog)';
const SHARED = new RegExp(`web/src/(?!${ACTS})(app|api|parts)/(?!\\w+Drawing)`);

export default defineConfig({
  base: '/ui/',
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  // The server puts a fresh value here with every page it sends.
  html: { cspNonce: '{{nonce}}' },
  build: {
    outDir: '../src/codexmem/http/web/dist',
    emptyOutDir: true,
    target: 'es2023',
    // A file as data: address would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    rolldownOptions: {
      output: {
        // What most pages need comes in two files instead of eighty: each file is a request. What draws (charts,
        // Markdown, differences) is large and stays by itself.
        codeSplitting: {
          groups: [
            { name: 'libraries', test: LIBRARIES, minShareCount: 20 },
            { name: 'shared', test: SHARED, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    proxy: Object.fromEntries(['/api', '/v1', '/rpc', '/stream'].map((path) => [path, { target: server }])),
  },
});
