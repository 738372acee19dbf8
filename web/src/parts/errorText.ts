// What an error says in the reader's language. The server's own words are English; its codes are translated.
import i18next from 'i18next';
import { asApiError } from '@/api/errors';

/** What an error means and what to do next, by its code. */
export function errorText(thrown: unknown): { what: string; next: string } {
  const { code } = asApiError(thrown);
  const known = i18next.exists(`errors:${code}.what`) ? (code as 'unknown') : 'unknown';
  return { what: i18next.t(`errors:${known}.what`), next: i18next.t(`errors:${known}.next`) };
}

/** Why something failed, for the end of a sentence. */
export function reasonOf(thrown: unknown): string {
  const { message } = asApiError(thrown);
  return i18next.language === 'en' ? message : i18next.t('reason', { what: errorText(thrown).what, message });
}

/** The server's message and hint, as a sentence each. */
export function ownWords(thrown: unknown): string[] {
  const { message, hint } = asApiError(thrown);
  return [message, hint ?? ''].filter((words) => words.trim()).map(sentence);
}

/** With a capital letter, unless it begins with a name, and a full stop. */
export function sentence(words: string): string {
  const trimmed = words.trim();
  const begun = /^[a-z]+(?:[ ,;]|: )/.test(trimmed) ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?…。！？]$/.test(begun) ? begun : `${begun}.`;
}
