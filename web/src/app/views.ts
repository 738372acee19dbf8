// Pages with their filters that were saved under a name.
import { useLocation } from '@tanstack/react-router';
import { usePreferences, type View } from './preferences';

const PASSING = ['anchor', 'sel', 'why']; // what is chosen in a list is no part of the view

/** The address without what is chosen in it; the order of its parts does not matter. */
export function viewOf(address: string): string {
  const [path = '', query = ''] = address.split('?');
  const kept = [...new URLSearchParams(query)].filter(([name]) => !PASSING.includes(name)).sort();
  const written = new URLSearchParams(kept).toString();
  return written ? `${path}?${written}` : path;
}

/** The view that is shown now, if it is a saved one. */
export function useCurrentView(): { here: string; view: View | undefined } {
  const { pathname, searchStr } = useLocation();
  const { views } = usePreferences();
  const here = viewOf(`${pathname}${searchStr}`);
  return { here, view: views.find(({ to }) => to === here) };
}
