// The part of the tree that is open: which addresses, and what lies directly under each as far as it was asked for.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isView } from './addresses';
import { branchQuery, WATCH_MS, type NotePlace, type NoteTree } from './queries';

export type Branch = { places: NotePlace[]; next: string | null; loading: boolean; error: unknown };

export const ROOT = '';
const FEW = 5; // domains that are opened by themselves

// Open addresses are kept while the application runs: the tree is shown by more than one page.
let opened: ReadonlySet<string> = new Set();
let begun = false;

/** Views lie under an address of the system, which holds nothing to ask for. */
function asked(open: ReadonlySet<string>): string[] {
  return [...open].filter((prefix) => !isView(prefix));
}

/** What other pages have read of the open branches, so that the tree stands at once. */
function remembered(client: QueryClient): ReadonlyMap<string, Branch> {
  const found = new Map<string, Branch>();
  for (const prefix of [ROOT, ...asked(opened)]) {
    const page = client.getQueryData(branchQuery(prefix, null).queryKey);
    if (page) found.set(prefix, { places: page.items, next: page.next_cursor, loading: false, error: null });
  }
  return found;
}

export function useBranches() {
  const client = useQueryClient();
  const [open, setOpen] = useState(opened);
  const [branches, setBranches] = useState<ReadonlyMap<string, Branch>>(() => remembered(client));
  const fresh = useRef(new Set<string>());
  const known = useRef(branches);
  known.current = branches;

  const put = useCallback((prefix: string, change: Partial<Branch>) => {
    setBranches((all) => {
      const former = all.get(prefix) ?? { places: [], next: null, loading: false, error: null };
      return new Map(all).set(prefix, { ...former, ...change });
    });
  }, []);

  /** Ask for a branch from its beginning, as far as it was read before. */
  const load = useCallback(
    async (prefix: string) => {
      const wanted = known.current.get(prefix)?.places.length ?? 0;
      put(prefix, { loading: true, error: null });
      try {
        const places: NotePlace[] = [];
        let next: string | null = null;
        do {
          const page: NoteTree = await client.fetchQuery({ ...branchQuery(prefix, next), staleTime: 1_000 });
          places.push(...page.items);
          next = page.next_cursor;
        } while (next && places.length < wanted);
        put(prefix, { places, next, loading: false });
        if (prefix !== ROOT || begun) return;
        begun = true;
        if (places.length <= FEW) setOpen((all) => new Set([...all, ...places.map((each) => each.uri)]));
      } catch (error) {
        put(prefix, { loading: false, error });
      }
    },
    [client, put],
  );

  const more = useCallback(
    async (prefix: string) => {
      const branch = known.current.get(prefix);
      if (!branch?.next || branch.loading) return;
      put(prefix, { loading: true, error: null });
      try {
        const page = await client.fetchQuery(branchQuery(prefix, branch.next));
        put(prefix, { places: [...branch.places, ...page.items], next: page.next_cursor, loading: false });
      } catch (error) {
        put(prefix, { loading: false, error });
      }
    },
    [client, put],
  );

  const expand = useCallback((prefixes: readonly string[]) => {
    setOpen((all) => (prefixes.every((each) => all.has(each)) ? all : new Set([...all, ...prefixes])));
  }, []);
  const collapse = useCallback((prefix: string) => {
    fresh.current.delete(prefix);
    setOpen((all) => new Set([...all].filter((each) => each !== prefix)));
  }, []);

  useEffect(() => {
    opened = open;
    for (const prefix of [ROOT, ...asked(open)]) {
      if (fresh.current.has(prefix)) continue;
      fresh.current.add(prefix);
      void load(prefix);
    }
  }, [open, load]);

  // What is open is looked at again: after each write of this page, and now and then for those of others.
  useEffect(() => {
    let soon: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      soon = undefined;
      void Promise.all([ROOT, ...asked(opened)].map(load));
    };
    const timer = setInterval(() => !document.hidden && again(), 2 * WATCH_MS);
    const leave = client.getQueryCache().subscribe((event) => {
      if (event.type !== 'updated' || event.action.type !== 'invalidate') return;
      // One write makes every remembered page of the tree old at once.
      if (event.query.queryKey[1] === 'tree') soon ??= setTimeout(again);
    });
    return () => {
      clearTimeout(soon);
      clearInterval(timer);
      leave();
    };
  }, [client, load]);

  return { open, branches, load, more, expand, collapse };
}
