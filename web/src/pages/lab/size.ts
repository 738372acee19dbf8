// How large a text is, in the unit that a person would choose.
import { localeTag } from '@/i18n';

/** "82 kB"; characters are counted as bytes, which is near enough for a button. */
export function sizeText(characters: number, language: string): string {
  const [unit, value] =
    characters < 1_000
      ? (['byte', characters] as const)
      : characters < 1_000_000
        ? (['kilobyte', characters / 1_000] as const)
        : (['megabyte', characters / 1_000_000] as const);
  return new Intl.NumberFormat(localeTag(language), {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: value < 10 && unit !== 'byte' ? 1 : 0,
  }).format(value);
}
