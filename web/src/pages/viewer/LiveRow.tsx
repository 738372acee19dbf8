// One line of the live stream, in words.
import { IconAlertCircle, IconCircleCheck, IconMessages, IconStack2 } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import { exactTime } from '@/parts/TimeText';
import type { FeedRow } from './feed';
import { EVENTS, type EventName } from './state';
import classes from './LiveStream.module.css';

type Mark = readonly [ComponentType<{ size: number; 'aria-hidden': boolean }>, string];

const MARKS: Record<EventName, Mark> = {
  'queue.depth': [IconStack2, 'muted'],
  'session.status': [IconMessages, 'info'],
  'model.result': [IconCircleCheck, 'ok'],
  'queue.failed': [IconAlertCircle, 'err'],
};

export function LiveRow({ row }: { row: FeedRow }) {
  const { t, i18n } = useTranslation('viewer');
  const { clock } = usePreferences();
  const said = useSentence(row);
  const name = EVENTS.find((each) => each === row.name);
  const [Icon, tone] = name ? MARKS[name] : MARKS['queue.depth'];
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
      <span className={classes['text']} title={said}>
        {said}
      </span>
      {typeof project === 'string' && project && <span className={classes['project']}>{project}</span>}
    </>
  );
}

function useSentence({ name, payload }: FeedRow): string {
  const { t } = useTranslation('viewer');
  const number = (field: string) => (typeof payload[field] === 'number' ? payload[field] : 0);
  const text = (field: string) => (typeof payload[field] === 'string' ? payload[field] : '');
  switch (name) {
    case 'queue.depth':
      return t('stream.depth', {
        queued: number('queued'),
        running: number('running'),
        failed: number('failed'),
      });
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
