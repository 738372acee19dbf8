// The sessions of every agent.
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useQuery } from '@tanstack/react-query';
import { ProjectSelect } from '@/parts/ProjectSelect';
import { usePages } from '@/api/queries';
import { ListPanel } from '@/parts/ListPanel';
import { text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { useFreshCount } from '@/live/useLive';
import { FilterFold } from '@/parts/FilterFold';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { SavedViews } from '@/parts/SavedViews';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { type Session, sessions, turns } from './queries';
import { SearchField } from './SearchField';
import { TRY } from './TimelineBrowse';
import { SessionAbout } from './SessionAbout';
import { stateOf } from './sessionItems';
import classes from './Session.module.css';

const SCHEMA = { project: text(), q: text() };
const ROW = 56;

export function SessionsPage() {
  const { t, i18n } = useTranslation('timeline');
  const [{ project, q }, set] = useSearchState(SCHEMA);
  const navigate = useNavigate();
  const list = usePages(['timeline', 'sessions', project, q], (cursor) => sessions(project, q, cursor));
  const { fresh, clear } = useFreshCount(({ name, payload }) => {
    const said = payload as { status?: string; project?: string };
    return name === 'session.status' && said.status === 'active' && (!project || said.project === project);
  });
  const named = [q && t('filters.named.q', { value: q }), project && t('filters.named.project', { value: project })];
  const filters = new Intl.ListFormat(localeTag(i18n.language)).format(named.filter(Boolean));
  return (
    <Page title={t('sessions')} description={t('sessionsDescription')} actions={<SavedViews />}>
      <FilterFold
        values={[project]}
        lead={
          <SearchField
            value={q}
            label={t('sessionList.search')}
            placeholder={t('sessionList.searchHint')}
            onChange={(words) => set({ q: words }, { replace: Boolean(words && q) })}
          />
        }
      >
        <ProjectSelect value={project} onChange={(chosen) => set({ project: chosen })} />
      </FilterFold>
      <ListPanel
        list={list}
        title={q ? t('list.foundTitle') : t('sessionList.title')}
        empty={{ title: t('sessionList.emptyTitle'), why: t('sessionList.emptyWhy'), command: TRY }}
        filtered={
          q || project
            ? { text: t('filters.nothing', { filters }), onClear: () => set({ q: '', project: '' }) }
            : undefined
        }
        actions={
          !q && (
            <NewRows
              count={fresh}
              onShow={() => {
                clear();
                void list.restart();
              }}
            />
          )
        }
        label={q ? t('sessionList.found') : t('sessionList.label')}
        keyOf={(row) => String(row.number)}
        rowHeight={ROW}
        height="max(320px, calc(100dvh - 276px))"
        onOpen={(row) => void navigate({ to: '/ui/sessions/$id', params: { id: String(row.number) } })}
        peek={(row) => <SessionPeek session={row} />}
        render={(row) => <SessionLine session={row} />}
      />
    </Page>
  );
}

/** One session of the list: what was asked first, by whom and where, and what came of it. */
function SessionLine({ session }: { session: Session }) {
  const { t, i18n } = useTranslation('timeline');
  const made = session.observations + session.summaries;
  const number = made.toLocaleString(localeTag(i18n.language));
  return (
    <div className={classes['line']}>
      <span className={`${classes['number']} muted end`}>{session.number}</span>
      <span className={classes['words']}>
        <span className={classes['title']} dir="auto" data-none={!session.title || undefined}>
          {session.title || t(session.hidden ? 'sessionList.hidden' : 'sessionList.untitled')}
        </span>
        <span className={classes['under']}>
          <span>{session.agent}</span>
          <span>{session.project}</span>
          <span className={classes['folder']}>{session.cwd}</span>
        </span>
      </span>
      <span className={classes['counts']}>
        <span>{t('sessionList.turns', { count: session.turns })}</span>
        <span>{session.counted ? t('sessionList.made', { count: made }) : t('sessionList.madeMore', { number })}</span>
      </span>
      <span className={classes['state']}>
        <StatusMark status={stateOf(session)} />
        <TimeText at={session.last_ms} />
      </span>
    </div>
  );
}

const SHOWN = 8; // turns

/** A session at a glance: what was asked in its first turns, and what was made of each. */
function SessionPeek({ session }: { session: Session }) {
  const { t } = useTranslation('timeline');
  const query = useQuery({
    queryKey: ['timeline', 'peek', session.number],
    queryFn: () => turns(session.number, null),
  });
  return (
    <>
      <SessionAbout session={session} />
      <Panel
        title={t('sessionPage.turns')}
        state={query}
        isEmpty={({ rows }) => rows.length === 0}
        empty={{ title: t('sessionPage.emptyTitle') }}
      >
        {({ rows }) => (
          <ol className={classes['peek']}>
            {rows.slice(0, SHOWN).map((turn) => (
              <li key={turn.turn} dir="auto">
                {turn.prompt?.text ?? t('sessionPage.noPrompt')}
              </li>
            ))}
          </ol>
        )}
      </Panel>
    </>
  );
}
