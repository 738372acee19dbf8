// What happens, the moment it happens. While it is paused, or while somebody reads further down, new events wait behind
// "n new" instead of moving the list.
import { Button } from '@mantine/core';
import { IconAlertCircle, IconCircleCheck, IconMessages, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, type UIEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NewRows } from '@/parts/NewRows';
import { Empty, Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import { exactTime } from '@/parts/TimeText';
import { pageOf } from '@/parts/reference';
import { TextLink } from '@/parts/TextLink';
import { feed, type FeedRow, useFeed } from './feed';
import { FilterChoice, FilterProject } from './Filters';
import { type EventName, EVENTS, type TabProps } from './state';
import { useNamed } from './queries';
import classes from './LiveStream.module.css';

type Props = TabProps & { paused: boolean; onPause: (paused: boolean) => void };

export function LiveStream({ state, set, paused, onPause }: Props) {
  const { t } = useTranslation(['viewer', 'common']);
  const navigate = useNavigate();
  const { rows, waiting } = useFeed();
  const [reading, setReading] = useState(false); // further down in the list
  const box = useRef<HTMLDivElement>(null);
  const { event, project } = state;
  useEffect(() => feed.hold(paused || reading), [paused, reading]);

  const shown = useMemo(() => rows.filter((row) => wanted(row, event, project)), [rows, event, project]);
  const fresh = useMemo(() => waiting.filter((row) => wanted(row, event, project)).length, [waiting, event, project]);

  function show() {
    feed.flush();
    box.current?.querySelector('[role=grid]')?.scrollTo({ top: 0 });
  }

  function open({ name, payload }: FeedRow) {
    const session = payload['sessionDbId'];
    if (name === 'queue.failed')
      set({ tab: 'failures', ...(typeof payload['id'] === 'number' ? { sel: payload['id'] } : {}) });
    else if (typeof session === 'number') void navigate({ to: '/ui/sessions/$id', params: { id: String(session) } });
  }

  return (
    <Panel
      title={t('stream.title')}
      flush
      actions={
        <>
          <NewRows count={fresh} onShow={show} />
          <FilterChoice
            label={t('stream.type')}
            bare
            width={120}
            all={t('stream.all')}
            options={EVENTS.map((value) => ({ value, label: t(`stream.names.${value}`) }))}
            value={event}
            onChange={(chosen) => set({ event: EVENTS.find((each) => each === chosen) ?? '' })}
          />
          <FilterProject state={state} set={set} bare />
          <Button
            variant="default"
            aria-pressed={paused}
            leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
            onClick={() => onPause(!paused)}
          >
            {paused ? t('stream.resume') : t('stream.pause')}
          </Button>
        </>
      }
    >
      {paused && (
        <p className={classes['paused']} role="status">
          {t('stream.paused')}
        </p>
      )}
      <div
        ref={box}
        onScrollCapture={({ target }: UIEvent) => setReading(target instanceof HTMLElement && target.scrollTop > 4)}
      >
        {shown.length ? (
          <VirtualRows
            rows={shown}
            keyOf={(row) => row.key}
            render={(row) => <LiveRow row={row} />}
            label={t('stream.label')}
            rowHeight={32}
            height={`clamp(224px, ${shown.length * 32}px, 400px)`}
            onOpen={open}
          />
        ) : (
          <Empty title={event || project ? t('stream.filtered') : t('stream.empty')} why={t('stream.emptyWhy')} />
        )}
      </div>
    </Panel>
  );
}

function wanted({ name, payload }: FeedRow, event: string, project: string): boolean {
  if (event && name !== event) return false;
  return !project || payload['project'] === project;
}

type Mark = readonly [ComponentType<{ size: number; 'aria-hidden': boolean }>, string];

const MARKS: Record<EventName, Mark> = {
  'session.status': [IconMessages, 'info'],
  'model.result': [IconCircleCheck, 'ok'],
  'queue.failed': [IconAlertCircle, 'err'],
};

const TITLE = 120; // characters of a memory that has no title

/** One line of the live stream, in words. */
function LiveRow({ row }: { row: FeedRow }) {
  const { t, i18n } = useTranslation('viewer');
  const { clock } = usePreferences();
  const said = useSentence(row);
  const name = EVENTS.find((each) => each === row.name);
  const [Icon, tone] = MARKS[name ?? 'session.status'];
  const project = row.payload['project'];
  return (
    <>
      <time
        className={classes['time']}
        dateTime={new Date(row.at).toISOString()}
        title={exactTime(row.at, i18n.language, clock)}
      >
        {clockTime(row.at, i18n.language, clock)}
      </time>
      <span
        className={classes['name']}
        data-tone={name === 'model.result' && row.payload['errorClass'] ? 'warn' : tone}
      >
        <Icon size={14} aria-hidden />
        {name ? t(`stream.names.${name}`) : row.name}
      </span>
      <Wrote numbers={row.payload['wrote']} />
      <span className={`${classes['text']} cut grow`} title={said}>
        {said}
      </span>
      {typeof project === 'string' && project && <span className={`${classes['project']} cut`}>{project}</span>}
    </>
  );
}

/** The memory that came of it, by its present title; if there are more, how many. */
function Wrote({ numbers }: { numbers: unknown }) {
  const { t } = useTranslation('viewer');
  const [first, ...more] = Array.isArray(numbers) ? numbers.filter((each) => typeof each === 'number') : [];
  const memory = useNamed(first).data;
  if (!memory) return null;
  return (
    <span className={classes['wrote']}>
      <TextLink to={pageOf(memory.label) ?? `/ui/observations/${memory.seq}`}>
        {memory.title || memory.content.slice(0, TITLE) || t('newest.untitled')}
      </TextLink>
      {more.length > 0 && <span className="muted size12 fixed">{t('stream.more', { count: more.length })}</span>}
    </span>
  );
}

function useSentence({ name, payload }: FeedRow): string {
  const { t } = useTranslation('viewer');
  const number = (field: string) => (typeof payload[field] === 'number' ? payload[field] : 0);
  const text = (field: string) => (typeof payload[field] === 'string' ? payload[field] : '');
  switch (name) {
    case 'session.status': {
      const session = number('sessionDbId');
      return text('status') === 'completed' ? t('stream.ended', { session }) : t('stream.began', { session });
    }
    case 'model.result': {
      const by = text('by');
      const memories = t('stream.memories', { count: number('memories') });
      const who = by === 'model' || by === 'rules' ? t(`stream.by.${by}`) : t('stream.by.other', { by });
      const what =
        text('messageType') === 'summarize'
          ? t('stream.summary', { memories, by: who })
          : t('stream.observation', { count: number('events'), memories, by: who });
      return text('errorClass') ? t('stream.unanswered', { why: text('error') || text('errorClass') }) : what;
    }
    case 'queue.failed':
      return t('stream.failed', { kind: text('kind'), count: number('attempts'), error: text('error') });
    default:
      return JSON.stringify(payload);
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

function clockTime(at: number, language: string, clock: 'local' | 'utc'): string {
  const key = `${language} ${clock}`;
  const zone = clock === 'utc' ? { timeZone: 'UTC' } : {};
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat(localeTag(language), { timeStyle: 'medium', hourCycle: 'h23', ...zone });
  formats.set(key, format);
  return format.format(at);
}
