// One memory of the timeline: when, what kind, what it says, and in which session. A line joins those of one session.
import { memo, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import type { Life } from '@/api/life';
import { LifeMarks } from '@/parts/acts/LifeMarks';
import { explained } from '@/parts/searchResult';
import { exactTime, TimeText } from '@/parts/TimeText';
import { KindMark } from '@/parts/KindMark';
import type { Row } from './queries';
import { plainLine, restOf } from '@/parts/snippet';
import { TextLink } from '@/parts/TextLink';
import { marksIn, wordsOf } from './marks';
import classes from './Timeline.module.css';

type Props = {
  row: Row;
  begins?: boolean;
  ends?: boolean;
  /** The words it was found by. */
  question?: string;
  /** Without the line of a session, because the list is not one of days; what all of its rows are is not told. */
  apart?: Life;
};

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

// A list is drawn anew with every step in it; its rows are not.
export const TimelineRow = memo(function TimelineRow(props: Props) {
  const { row, begins = true, ends = true, question = '', apart } = props;
  const { t, i18n } = useTranslation('timeline');
  const { clock } = usePreferences();
  const found = question !== '' || apart !== undefined;
  const rest = restOf(row.title, row.snippet);
  const life = row.life === apart ? 'active' : row.life;
  const marked = life !== 'active' || row.marks.length > 0;
  return (
    <div className={classes['line']} data-found={found || undefined}>
      {!found && (
        <span className={classes['rail']} data-begins={begins || undefined} data-ends={ends || undefined} aria-hidden />
      )}
      {!found && (
        <time
          className="muted size12"
          dateTime={new Date(row.created_ms).toISOString()}
          title={exactTime(row.created_ms, i18n.language, clock)}
        >
          {timeOfDay(row.created_ms, clock)}
        </time>
      )}
      <KindMark kind={row.kind} bare />
      <span className={classes['words']}>
        <span className={classes['headline']} dir="auto">
          {row.title ? <Marked text={plainLine(row.title)} question={question} /> : t('list.noTitle')}
        </span>
        {(rest || marked) && (
          <span className={`${classes['snippet']} muted size12`} dir="auto">
            <LifeMarks life={life} marks={row.marks} /> {rest && <Marked text={rest} question={question} />}
          </span>
        )}
      </span>
      <span className={classes['side']}>
        {found && <TimeText at={row.created_ms} />}
        {found && row.score !== null && <Why of={row} question={question} />}
        {!found && begins && row.session !== null && (
          <TextLink to={`/ui/sessions/${row.session}?sel=m${row.seq}`}>
            {t('list.session', { number: row.session })}
          </TextLink>
        )}
        {!found && begins && <span className={`${classes['project']} cut`}>{row.project}</span>}
      </span>
    </div>
  );
});

/** The way to the reasons why it stands where it does. */
function Why({ of: { seq }, question }: { of: Row; question: string }) {
  const { t } = useTranslation('timeline');
  return (
    <span title={t('list.whyOne')}>
      <TextLink to={explained(question, seq)}>{t('list.whyShort')}</TextLink>
    </span>
  );
}

/** A text with the words of the question marked in it. */
function Marked({ text, question }: { text: string; question: string }) {
  const pieces = useMemo(() => marksIn(text, wordsOf(question)), [text, question]);
  return pieces.map((piece, index) => (piece.marked ? <mark key={index}>{piece.text}</mark> : piece.text));
}
