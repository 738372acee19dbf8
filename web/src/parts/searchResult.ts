// What is said in words instead of numbers: how alike texts are, how far something is believed.

// Shares of what two texts have in common, and how far something is believed, from which it is called so.
const NEARLY = 0.9;
const MUCH = 0.7;
const HIGH = 0.7;
const MEDIUM = 0.4;

/** How alike two texts are, in a word. */
export function likeness(share: number): 'nearly' | 'much' | 'some' {
  if (share >= NEARLY) return 'nearly';
  return share >= MUCH ? 'much' : 'some';
}

/** How far something is believed, in a word. */
export function belief(confidence: number): 'high' | 'medium' | 'low' {
  if (confidence >= HIGH) return 'high';
  return confidence >= MEDIUM ? 'medium' : 'low';
}

/** The number in place of which the newest of a list of traces is chosen. */
export const NEWEST = 0;

/** Where it is explained why a search gave what it did, or one memory: its trace is the newest of these words. */
export function explained(question: string, result?: number): string {
  const one: Record<string, string> = result === undefined ? {} : { result: String(result) };
  return `/viewer?${new URLSearchParams({ tab: 'traces', query: question, sel: String(NEWEST), ...one })}`;
}
