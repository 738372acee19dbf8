// What was learned: a calendar, the labels, and the digest of a day or of all days with a label. The day and the labels
// stand in the address.
import { Button, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { usePreferences } from '@/app/preferences';
import { text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import {
  type Chosen,
  type Facet,
  FACETS,
  type Facets,
  facetsQuery,
  listOf,
  NO_FACETS,
  useFacetWord,
} from '@/parts/facets';
import { Panel } from '@/parts/Panel';
import { TextLink } from '@/parts/TextLink';
import { LifeMarks } from '@/parts/acts/LifeMarks';
import { pageOf } from '@/parts/reference';
import { TimeText } from '@/parts/TimeText';
import { KindMark } from '@/parts/KindMark';
import { plainLine, restOf } from '@/parts/snippet';
import { Calendar } from './Calendar';
import {
  dayNumber,
  type Days,
  daysQuery,
  digest,
  type Learned as LearnedRow,
  type Session,
  spanOf,
  WEEKS,
} from './learnedQueries';
import classes from './Learned.module.css';

const SCHEMA = { day: text(), type: text(), file: text(), concept: text(), agent: text(), origin: text() };
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

export function Learned({ project }: { project: string }) {
  const { t } = useTranslation('learned');
  const { clock } = usePreferences();
  const timezone = clock === 'utc' ? 0 : -new Date().getTimezoneOffset();
  const days = useQuery(daysQuery(project, timezone));
  const empty = {
    title: t('learned.empty.title', { weeks: WEEKS }),
    why: t('learned.empty.why'),
    command: `codexmem remember "…" --project ${project}`,
  };
  return (
    <Panel title={t('learned.title')} state={days} isEmpty={(found) => !found.days.length} empty={empty}>
      {(found: Days) => <Inside project={project} days={found} />}
    </Panel>
  );
}

function Inside({ project, days }: { project: string; days: Days }) {
  const { t } = useTranslation('learned');
  const [{ day, ...chosen }, set] = useSearchState(SCHEMA);
  const asked = DAY.test(day) ? day : '';
  const filtered = FACETS.some((name) => chosen[name]);
  // Without a wish, the newest day; with a label alone, every day.
  const shown = asked || (filtered ? '' : (days.days.at(-1)?.day ?? ''));
  const { timezone, first, last } = days;
  const span = useMemo(() => spanOf(shown || first, shown || last, timezone), [shown, first, last, timezone]);
  const about = useMemo(() => spanOf(asked || first, asked || last, timezone), [asked, first, last, timezone]);
  const facets = useQuery(facetsQuery(project, about));
  const { type, file, concept, agent, origin } = chosen;
  const key = useMemo(
    () => ['brief', 'digest', project, span, { type, file, concept, agent, origin }],
    [project, span, type, file, concept, agent, origin],
  );
  const pages = usePages(key, (cursor) => digest(project, span, chosen, cursor));
  const { query, rows, more, hasMore, loadingMore } = pages;
  // A page may hold nothing that fits although there is more.
  const bare = query.isSuccess && !rows.length && hasMore;
  useEffect(() => {
    if (bare) more();
  }, [bare, more]);
  const counted = days.days.find((each) => each.day === shown);
  return (
    <div className="column gap12">
      <Calendar days={days} chosen={shown} onChoose={(next) => set({ day: next === asked ? '' : next })} />
      {facets.data && (
        <Chips
          facets={facets.data}
          chosen={chosen}
          onToggle={(name: Facet, value) => set({ [name]: value } as Partial<typeof chosen>)}
        />
      )}
      <div className={classes['head']}>
        <h3 className={classes['heading']}>
          <DayName day={shown} last={last} />
        </h3>
        {counted && !filtered && (
          <span className={classes['hint']}>
            {t('learned.count', {
              memories: t('learned.memories', { count: counted.memories }),
              sessions: t('learned.sessions', { count: counted.sessions }),
            })}
          </span>
        )}
        {filtered && asked && (
          <Button variant="default" size="compact-sm" onClick={() => set({ day: '' })}>
            {t('learned.allDays')}
          </Button>
        )}
        <span className={classes['hint']}>
          <TextLink to={listOf({ project, ...chosen, from: shown, to: shown })}>{t('learned.inList')}</TextLink>
        </span>
      </div>
      <Panel
        label={t('learned.list')}
        state={query}
        isEmpty={() => !rows.length && !hasMore}
        filtered={{ text: t('learned.noMatch'), onClear: () => set({ day: '', ...NO_FACETS }) }}
        className={classes['plain'] ?? ''}
        flush
      >
        <Digest items={rows} more={hasMore ? more : undefined} loading={loadingMore} />
      </Panel>
    </div>
  );
}

function DayName({ day, last }: { day: string; last: string }) {
  const { t, i18n } = useTranslation('learned');
  if (!day) return <>{t('learned.matching', { weeks: WEEKS })}</>;
  const number = dayNumber(day);
  const ago = dayNumber(last) - number;
  if (ago === 0) return <>{t('learned.today')}</>;
  if (ago === 1) return <>{t('learned.yesterday')}</>;
  const written = new Intl.DateTimeFormat(localeTag(i18n.language), { dateStyle: 'full', timeZone: 'UTC' });
  return <>{t('learned.onDay', { day: written.format(number * DAY_MS) })}</>;
}

type Props = { facets: Facets; chosen: Chosen; onToggle: (facet: Facet, value: string) => void };

const FEW = 6;

/** What memories are about, and from whom: each value with its number narrows the list, and stands in the address. */
function Chips({ facets, chosen, onToggle }: Props) {
  const { t } = useTranslation('learned');
  const shown = FACETS.filter((facet) => facets[facet].length || chosen[facet]);
  return (
    <section aria-label={t('learned.filters')} className="column gap12 gap6">
      {shown.map((facet) => (
        <Row key={facet} facet={facet} values={facets[facet]} chosen={chosen[facet]} onToggle={onToggle} />
      ))}
      {!facets.whole && <p className={classes['hint']}>{t('learned.notWhole')}</p>}
    </section>
  );
}

type RowProps = {
  facet: Facet;
  values: Facets[Facet];
  chosen: string;
  onToggle: Props['onToggle'];
};

function Row({ facet, values, chosen, onToggle }: RowProps) {
  const { t, i18n } = useTranslation('learned');
  const [all, setAll] = useState(false);
  const word = useFacetWord();
  const few = values.slice(0, all ? values.length : FEW);
  const missing = chosen && !few.some(({ value }) => value === chosen);
  const own = missing ? [values.find(({ value }) => value === chosen) ?? { value: chosen, count: null }] : [];
  return (
    <div className={classes['facet']} role="group" aria-label={t(`learned.facet.${facet}`)}>
      <span className={classes['facetName']} aria-hidden>
        {t(`learned.facet.${facet}`)}
      </span>
      {[...own, ...few].map(({ value, count }) => (
        <UnstyledButton
          key={value}
          className={classes['chip'] ?? ''}
          aria-pressed={value === chosen}
          title={count === null ? value : t('learned.chip', { value, count })}
          onClick={() => onToggle(facet, value === chosen ? '' : value)}
        >
          <span dir="auto">{word(facet, value)}</span>
          {count !== null && <span className="muted">{count.toLocaleString(localeTag(i18n.language))}</span>}
        </UnstyledButton>
      ))}
      {!all && values.length > FEW && (
        <UnstyledButton className={classes['all'] ?? ''} onClick={() => setAll(true)}>
          {t('learned.showAll', { count: values.length })}
        </UnstyledButton>
      )}
    </div>
  );
}

type Item = { row: LearnedRow; session: Session | null };
type DigestProps = { items: readonly Item[]; more?: (() => void) | undefined; loading: boolean };

type Group = { key: string; session: Session | null; rows: LearnedRow[] };

const MANUAL = /^manual-/; // what was saved by hand shares no session

/** Memories by the session that they were made in, in the order of the list. */
function bySession(items: readonly Item[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { row, session } of items) {
    const named = row.session_key ?? '';
    const key = MANUAL.test(named) ? '' : named;
    const group = groups.get(key) ?? { key, session, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** What was learned in a time, by the sessions that it was learned in. */
function Digest({ items, more, loading }: DigestProps) {
  const { t } = useTranslation('learned');
  return (
    <div className="column gap12">
      {bySession(items).map(({ key, session, rows }) => (
        <section key={key}>
          <h4 className={classes['session']}>
            <span className={classes['asked']} dir="auto">
              {session ? session.title || t('learned.untitled') : t(key ? 'learned.imported' : 'learned.outside')}
            </span>
            {session && (
              <span className={classes['about']}>
                <span>{session.agent}</span>
                <TextLink to={`/ui/sessions/${session.number}`}>
                  {t('learned.session', { number: session.number })}
                </TextLink>
              </span>
            )}
          </h4>
          <ul className={classes['rows']}>
            {rows.map((row) => (
              <Line key={row.ref} row={row} />
            ))}
          </ul>
        </section>
      ))}
      {more && (
        <Button variant="default" loading={loading} onClick={more} className={classes['moreButton'] ?? ''}>
          {t('learned.showMore')}
        </Button>
      )}
    </div>
  );
}

function Line({ row }: { row: LearnedRow }) {
  const page = pageOf(row.ref) ?? pageOf(row.uri ?? '');
  const rest = restOf(row.title, row.snippet);
  const title = plainLine(row.title) || row.ref;
  return (
    <li className={classes['row']}>
      <span className={classes['title']} dir="auto">
        {page ? <TextLink to={page}>{title}</TextLink> : title}
      </span>
      <span className={classes['about']}>
        <LifeMarks life={row.life} marks={row.marks} />
        <KindMark kind={row.kind} type={row.type} />
        <TimeText at={row.created_ms} />
      </span>
      {rest && (
        <span className={`${classes['rest']} cut`} dir="auto">
          {rest}
        </span>
      )}
    </li>
  );
}
