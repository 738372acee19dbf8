// Texts in two languages. One language is loaded at a time, first what the frame needs, those of the pages with the
// first that needs them; the choice is a preference, else the browser's wish.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { onPreference, preferences, type Language } from '@/app/preferences';
import type en from './en';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    resources: typeof en;
  }
}

const FIRST = { en: () => import('./en/first'), zh: () => import('./zh/first') };
const LATER = {
  activity: { en: () => import('./en/activity'), zh: () => import('./zh/activity') },
  memories: { en: () => import('./en/memories'), zh: () => import('./zh/memories') },
  rest: { en: () => import('./en/rest'), zh: () => import('./zh/rest') },
} as const;
type Later = keyof typeof LATER;
const TAGS = { en: 'en', zh: 'zh-CN' } as const;

/** The language to speak: what was chosen, else the first of the browser's that we have. */
export function wanted(chosen: Language | null, browser: readonly string[]): Language {
  if (chosen) return chosen;
  for (const tag of browser) {
    const name = tag.toLowerCase().split('-')[0];
    if (name === 'zh' || name === 'en') return name;
  }
  return 'en';
}

let spoken: Language = 'en';
const needed = new Set<Later>();

function learn(language: Language, texts: object) {
  for (const [area, words] of Object.entries(texts)) i18next.addResourceBundle(language, area, words);
}

async function speak(language: Language) {
  const parts = await Promise.all([FIRST[language](), ...[...needed].map((each) => LATER[each][language]())]);
  for (const { default: texts } of parts) learn(language, texts);
  spoken = language;
  await i18next.changeLanguage(language);
  document.documentElement.lang = TAGS[language];
}

/** Waits for these texts, in the language now spoken. */
async function later(...texts: readonly Later[]) {
  texts.forEach((each) => needed.add(each));
  const language = spoken;
  const parts = await Promise.all(texts.map((each) => LATER[each][language]()));
  for (const { default: words } of parts) learn(language, words);
  if (language !== spoken) await later(...texts);
}

/** Waits for the texts of the pages about memories. */
export const memoryTexts = () => later('memories');

/** Waits for the texts of the page of operations, and of a first visit. */
export const activityTexts = () => later('activity');

/** Waits for the texts of all pages. */
export const allTexts = () => later('activity', 'memories', 'rest');

/** The language now spoken, as tags for Intl. */
export function localeTag(language: string): string {
  return language === 'zh' ? TAGS.zh : TAGS.en;
}

export async function startTexts() {
  spoken = wanted(preferences().language, navigator.languages);
  await i18next.use(initReactI18next).init({
    lng: 'none',
    fallbackLng: false,
    defaultNS: 'common',
    ns: [],
    resources: {},
    interpolation: { escapeValue: false }, // React escapes
    react: { useSuspense: false, bindI18nStore: 'added' },
  });
  await speak(spoken);
  onPreference(() => {
    const next = wanted(preferences().language, navigator.languages);
    if (next !== i18next.language) void speak(next);
  });
}
