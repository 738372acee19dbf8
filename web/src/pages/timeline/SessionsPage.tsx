// The sessions of every agent.
import { Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { useFreshCount } from '@/live/useLive';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { ProjectSelect } from './ProjectSelect';
import { sessions } from './queries';
import { SearchField } from './SearchField';
import { SessionLine } from './SessionLine';
import { TRY } from './TimelineBrowse';
import classes from './Timeline.module.css';

const SCHEMA = { project: text(), q: text() };
const ROW = 56;

export function SessionsPage() {
  const { t, i18n } = useTranslation('timeline');
  const [{ project, q }, set] = useSearchState(SCHEMA);
  const navigate = useNavigate();
  const key = useMemo(() => ['timeline', 'sessions', project, q], [project, q]);
  const { query, rows, more, restart, loadingMore } = usePages(key, (cursor) => sessions(project, q, cursor));
  const { fresh, clear } = useFreshCount(({ name, payload }) => {
    const said = payload as { status?: string; project?: string };
    return name === 'session.status' && said.status === 'active' && (!project || said.project === project);
  });
  const named = [q && t('filters.named.q', { value: q }), project && t('filters.named.project', { value: project })];
  const filters = new Intl.ListFormat(localeTag(i18n.language)).format(named.filter(Boolean));
  return (
    <Page title={t('sessions')} description={t('sessionsDescription')}>
      <Group
        component="section"
        aria-label={t('filters.label')}
        gap="sm"
        align="flex-end"
        className={classes['filters']}
      >
        <SearchField
          value={q}
          label={t('sessionList.search')}
          placeholder={t('sessionList.searchHint')}
          onChange={(words) => set({ q: words }, { replace: Boolean(words && q) })}
        />
        <ProjectSelect value={project} onChange={(chosen) => set({ project: chosen })} />
      </Group>
      <Panel
        title={q ? t('list.foundTitle') : t('sessionList.title')}
        state={query}
        isEmpty={() => rows.length === 0}
        empty={{ title: t('sessionList.emptyTitle'), why: t('sessionList.emptyWhy'), command: TRY }}
        filtered={
          q || project
            ? { text: t('filters.nothing', { filters }), onClear: () => set({ q: '', project: '' }) }
            : undefined
        }
        flush
        actions={
          !q && (
            <NewRows
              count={fresh}
              onShow={() => {
                clear();
                void restart();
              }}
            />
          )
        }
      >
        <VirtualRows
          label={q ? t('sessionList.found') : t('sessionList.label')}
          rows={rows}
          keyOf={(row) => String(row.number)}
          rowHeight={ROW}
          height="max(320px, calc(100dvh - 276px))"
          onOpen={(row) => void navigate({ to: '/ui/sessions/$id', params: { id: String(row.number) } })}
          onEndReached={more}
          loadingMore={loadingMore}
          render={(row) => <SessionLine session={row} />}
        />
      </Panel>
    </Page>
  );
}
