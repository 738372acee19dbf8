// Everything captured, newest first, or what a search finds in it.
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { anyFilter, filtersOf, SCHEMA, UNFILTERED, type TimelineState } from './filters';
import { TimelineBrowse } from './TimelineBrowse';
import { TimelineFilters } from './TimelineFilters';
import { TimelineFound } from './TimelineFound';
import { useSettled } from './useSettled';

export function TimelinePage() {
  const { t } = useTranslation('timeline');
  const { clock } = usePreferences();
  const [state, set] = useSearchState(SCHEMA);
  const { project, kind, from, to, q } = state;
  const [anchor, onAnchor] = useSettled(
    state.anchor,
    useCallback((next) => set({ anchor: next }, { replace: true }), [set]),
  );
  const filters = useMemo(() => filtersOf({ project, kind, from, to }, clock), [project, kind, from, to, clock]);
  const narrow = useCallback<typeof set>(
    (change, options) => {
      // Another list, another beginning; what a search finds is only another way to the same place.
      const elsewhere = !('q' in change);
      if (elsewhere) onAnchor('');
      set({ ...change, ...(elsewhere ? { anchor: '' } : {}) }, options);
    },
    [set, onAnchor],
  );
  const named = useNamedFilters(state);
  const filtered = anyFilter(state)
    ? { text: t('filters.nothing', { filters: named }), onClear: () => set({ ...UNFILTERED }) }
    : undefined;
  const shared = { filters, anchor, onAnchor, filtered };
  return (
    <Page title={t('title')} description={t('description')}>
      <TimelineFilters project={project} kind={kind} from={from} to={to} q={q} set={narrow} />
      {q ? <TimelineFound question={q} onPlace={() => set({ q: '' })} {...shared} /> : <TimelineBrowse {...shared} />}
    </Page>
  );
}

/** The filters in words, for a list that they leave empty. */
function useNamedFilters({ q, project, kind, from, to }: TimelineState): string {
  const { t, i18n } = useTranslation('timeline');
  const named = [
    q && t('filters.named.q', { value: q }),
    project && t('filters.named.project', { value: project }),
    kind !== 'all' && t(`filters.named.${kind}`),
    from && t('filters.named.from', { value: from }),
    to && t('filters.named.to', { value: to }),
  ].filter((each): each is string => each !== false && each !== '');
  return new Intl.ListFormat(localeTag(i18n.language)).format(named);
}
