// Tests of what parts decide by themselves; what a person sees is tested in a real browser, by tests/web.
import { mergeConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import build from './vite.config.ts';

export default mergeConfig(
  build,
  defineConfig({ test: { environment: 'happy-dom', include: ['src/**/*.test.ts'], isolate: false } }),
);
