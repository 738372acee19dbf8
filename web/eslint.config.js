// What types and layout do not see: the rules of hooks, and which folder may know which.
import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import { defineConfig } from 'eslint/config';
import { readdirSync } from 'node:fs';
import ts from 'typescript-eslint';

const pages = readdirSync(new URL('src/pages', import.meta.url));
const shared = ['api', 'i18n', 'live', 'parts'];

const noOtherPage = (page) => ({
  files: [`src/pages/${page}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `^(\\.\\./|@/pages/)(?!${page}/)`,
            message: 'A page imports no other page: what both need belongs in parts/ or api/.',
          },
        ],
      },
    ],
  },
});

export default defineConfig([
  { ignores: ['node_modules', 'screenshots', 'src/api/schema.d.ts'] },
  js.configs.recommended,
  ts.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { 'react-hooks': hooks },
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' },
  },
  { files: ['*.js'], languageOptions: { globals: { URL: 'readonly' } } },
  ...pages.map(noOtherPage),
  {
    files: shared.map((folder) => `src/${folder}/**/*.{ts,tsx}`),
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(\\.\\./|@/)pages/', message: 'What pages share knows no page.' }] },
      ],
    },
  },
]);
