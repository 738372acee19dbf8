// What a part of the text may cost, and which part had no room left for a memory.
import type { LineReason, NextContext, NotTold } from './queries';

/** Whether a section may cost less than the whole text: what is said of the memory itself always stands there. */
export function hasLimit(section: LineReason): boolean {
  return section !== 'about' && section !== 'earlier_session';
}

type Part = { /** Null for the text as a whole. */ section: LineReason | null; used: number; limit: number | null };

/** The section that was full, or the whole text; without a limit where it is memories that are counted. */
export function fullPart({ section, limit }: NotTold, told: NextContext): Part {
  if (section === null) return { section, used: told.tokens, limit: told.budget };
  const used = told.sections.find(({ name }) => name === section)?.tokens ?? 0;
  return { section, used, limit: limit || null };
}
