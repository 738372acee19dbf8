// Addresses of notes as a tree: what lies above one, and which parts of the page's own state they mean.
export const VIEWS = ['system://boot', 'system://index', 'system://recent'] as const;
export type ViewName = 'boot' | 'index' | 'recent';

export function domainOf(uri: string): string {
  return uri.split('://', 1)[0] ?? '';
}

/** What stands after the domain, for a person to read: `a/b` of `project://a/b`. */
export function pathOf(uri: string): string {
  return uri.slice(uri.indexOf('://') + 3);
}

/** The addresses under which this one lies, from the domain down: project://, project://a. */
export function above(uri: string): string[] {
  const domain = `${domainOf(uri)}://`;
  const parts = pathOf(uri).split('/').slice(0, -1);
  return [domain, ...parts.map((_, index) => domain + parts.slice(0, index + 1).join('/'))];
}

export function isView(uri: string): boolean {
  return domainOf(uri).toLowerCase() === 'system';
}

/** Which view an address names, if it is one of ours. */
export function viewName(uri: string): ViewName | null {
  const [name] = pathOf(uri).split('/');
  return name === 'boot' || name === 'index' || name === 'recent' ? name : null;
}

export type Range = { from: number; to: number };
export const PRIORITIES = { from: 0, to: 10 } as const;

/** `0-2` in an address: priorities from and to; null for anything else. */
export function rangeOf(written: string): Range | null {
  const found = /^(\d{1,2})-(\d{1,2})$/.exec(written);
  if (!found) return null;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return from <= to && to <= PRIORITIES.to ? { from, to } : null;
}
