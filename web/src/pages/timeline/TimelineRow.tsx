// One memory of the timeline: when, what kind, what it says, and in which session. A line joins those of one session.
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import { exactTime, TimeText } from '@/parts/TimeText';
import { KindMark } from './KindMark';
import { Marked } from './Marked';
import type { Row } from './queries';
import { TextLink } from '@/parts/TextLink';
import classes from './Timeline.module.css';

type Props = { row: Row; begins?: boolean; ends?: boolean; /** The words it was found by. */ question?: string };

const formats = new Map<string, Intl.DateTimeFormat>();

function timeOfDay(at: number, clock: 'local' | 'utc'): string {
  const format =
    formats.get(clock) ??
    new Intl.DateTimeFormat('en', {
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
    });
  formats.set(clock, format);
  return format.format(at);
}

/** What the snippet adds to the title, which is more than the full stop behind it. */
export function restOf(title: string, snippet: string): string {
  const begun = title.endsWith('…') ? title.slice(0, -1) : title;
  return snippet.startsWith(begun)
    ? snippet
        .slice(begun.length)
        .replace(/^[.…。]+/, '')
        .trim()
    : snippet;
}

// A list is drawn anew with every step in it; its rows are not.
export const TimelineRow = memo(function TimelineRow({ row, begins = true, ends = true, question = '' }: Props) {
  const { t, i18n } = useTranslation('timeline');
  const { clock } = usePreferences();
  const found = question !== '';
  const rest = restOf(row.title, row.snippet);
  return (
    <div className={classes['line']} data-found={found || undefined}>
      {!found && (
        <span className={classes['rail']} data-begins={begins || undefined} data-ends={ends || undefined} aria-hidden />
      )}
      {!found && (
        <time
          className={classes['time']}
          dateTime={new Date(row.created_ms).toISOString()}
          title={exactTime(row.created_ms, i18n.language, clock)}
        >
          {timeOfDay(row.created_ms, clock)}
        </time>
      )}
      <KindMark kind={row.kind} bare />
      <span className={classes['words']}>
        <span className={classes['headline']} dir="auto">
          {row.title ? <Marked text={row.title} question={question} /> : t('list.noTitle')}
        </span>
        {rest && (
          <span className={classes['snippet']} dir="auto">
            <Marked text={rest} question={question} />
          </span>
        )}
      </span>
      <span className={classes['side']}>
        {found && <TimeText at={row.created_ms} />}
        {found && row.score !== null && <Score of={row.score} />}
        {!found && begins && row.session !== null && (
          <TextLink to={`/ui/sessions/${row.session}?sel=m${row.seq}`}>
            {t('list.session', { number: row.session })}
          </TextLink>
        )}
        {!found && begins && <span className={classes['project']}>{row.project}</span>}
      </span>
    </div>
  );
});

function Score({ of }: { of: number }) {
  const { t, i18n } = useTranslation('timeline');
  const percent = of.toLocaleString(localeTag(i18n.language), { style: 'percent' });
  return <span>{t('list.score', { percent })}</span>;
}
