// Everything remembered, newest first, or what a search finds in it.
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { Page } from '@/parts/Page';
import { SavedViews } from '@/parts/SavedViews';
import { FACETS, NO_FACETS, useFacetWord } from '@/parts/facets';
import { anyFilter, anyLabel, filtersOf, isElsewhere, SCHEMA, type TimelineState, UNFILTERED } from './filters';
import { TimelineBrowse } from './TimelineBrowse';
import { LabelFilters, TimelineFilters } from './TimelineFilters';
import { TimelineFound, TimelineListed } from './TimelineFlat';
import { useTyped } from '@/parts/useTyped';

export function TimelinePage() {
  const { t } = useTranslation('timeline');
  const { clock } = usePreferences();
  const [state, set] = useSearchState(SCHEMA);
  const { project, kind, from, to, q, life, mark, health } = state;
  const { type, file, concept, agent, origin } = state;
  const [anchor, onAnchor] = useTyped(state.anchor, (next) => set({ anchor: next }, { replace: true }));
  const labels = useMemo(() => ({ type, file, concept, agent, origin }), [type, file, concept, agent, origin]);
  const filters = useMemo(
    () => filtersOf({ project, kind, from, to, labels }, clock),
    [project, kind, from, to, labels, clock],
  );
  const narrow = useCallback<typeof set>(
    (change, options) => {
      // Another list, another beginning; what a search finds is only another way to the same place.
      const another = !('q' in change) || 'life' in change;
      if (another) onAnchor('');
      // The search knows no agents, and not who wrote what.
      const apart = change.q ? { agent: '', origin: '' } : change.agent || change.origin ? { q: '' } : {};
      set({ ...change, ...apart, ...(another ? { anchor: '' } : {}) }, options);
    },
    [set, onAnchor],
  );
  const named = useNamedFilters(state);
  const filtered = anyFilter(state)
    ? { text: t('filters.nothing', { filters: named }), onClear: () => set({ ...UNFILTERED }) }
    : undefined;
  const shared = { filters, anchor, onAnchor, filtered };
  const show = { life, mark, health };
  const elsewhere = isElsewhere(show);
  return (
    <Page title={t('title')} description={t('description')} actions={<SavedViews />}>
      <TimelineFilters {...{ project, kind, from, to, q, ...show }} set={narrow} />
      <LabelFilters {...{ project, ...labels }} set={narrow} />
      {q && !elsewhere ? (
        <TimelineFound question={q} onPlace={() => set({ q: '', ...NO_FACETS })} {...shared} />
      ) : elsewhere || anyLabel(labels) ? (
        <TimelineListed show={show} {...shared} />
      ) : (
        <TimelineBrowse {...shared} />
      )}
    </Page>
  );
}

/** The filters in words, for a list that they leave empty. */
function useNamedFilters(state: TimelineState): string {
  const { q, project, kind, from, to } = state;
  const { t, i18n } = useTranslation(['timeline', 'learned']);
  const word = useFacetWord();
  const named = [
    q && t('filters.named.q', { value: q }),
    project && t('filters.named.project', { value: project }),
    kind !== 'all' && t('filters.named.kind', { value: t(`filters.${kind}`) }),
    from && t('filters.named.from', { value: from }),
    to && t('filters.named.to', { value: to }),
    ...FACETS.map(
      (name) =>
        state[name] && t('labels.one', { name: t(`learned:learned.facet.${name}`), value: word(name, state[name]) }),
    ),
  ].filter((each): each is string => each !== false && each !== '');
  return new Intl.ListFormat(localeTag(i18n.language)).format(named);
}
