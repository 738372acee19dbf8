// One event in the trace: when it began, how deep its task lies, what it is about, how long it took and when that was.
import { ActionIcon } from '@mantine/core';
import { IconAlertTriangle, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { durationText } from '@/parts/duration';
import { barOf, type Extent, type TraceRow } from './traceView';
import { useTypeName } from './useTypeName';
import classes from './Trace.module.css';

type Props = { row: TraceRow; extent: Extent; folded: boolean; onFold: (task: string) => void };

const INDENT = 16; // pixels per level
const DEEPEST = 8;
// Their short line names the task they are part of, which its first row says already.
const WITHIN_TASK = new Set(['llm_request', 'llm_response', 'recap_info']);

export const TraceLine = memo(function TraceLine({ row, extent, folded, onFold }: Props) {
  const { t, i18n } = useTranslation('lab');
  const typeName = useTypeName();
  const { event, tier, depth, opens, speaks } = row;
  const bar = barOf(event, extent);
  const since = Math.max(0, event.started_at - extent.from).toLocaleString(localeTag(i18n.language), {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  const agent = event.agent ?? '';
  const label = WITHIN_TASK.has(event.event_type) && opens === null && !event.failed ? null : event.label;
  return (
    <div className={classes['line']} data-tier={tier} data-failed={event.failed || undefined}>
      <span className={classes['since']} title={t('trace.offset', { seconds: since })}>
        {since}
      </span>
      <span className={classes['what']} style={{ paddingInlineStart: Math.min(depth, DEEPEST) * INDENT }}>
        {opens !== null && (
          <ActionIcon
            size={24}
            className={classes['fold']}
            tabIndex={-1}
            aria-expanded={!folded}
            aria-label={t(folded ? 'trace.unfold' : 'trace.fold', { agent })}
            onClick={(click) => {
              click.stopPropagation();
              onFold(opens);
            }}
          >
            {folded ? <IconChevronRight size={14} /> : <IconChevronDown size={14} />}
          </ActionIcon>
        )}
        {event.failed && (
          <IconAlertTriangle size={14} role="img" aria-label={t('trace.failed')} className={classes['warning']} />
        )}
        <span className={classes['type']}>{typeName(event.event_type)}</span>
        {speaks && <span className={classes['agent']}>{agent}</span>}
        {label && <span className={classes['label']}>{label}</span>}
      </span>
      <span className={classes['took']}>
        {event.duration_ms !== null && durationText(event.duration_ms, i18n.language)}
      </span>
      <span className={classes['time']} aria-hidden>
        <span
          className={classes['mark']}
          data-span={bar.width > 0 || undefined}
          style={{ insetInlineStart: `min(${bar.start * 100}%, calc(100% - 2px))`, width: `${bar.width * 100}%` }}
        />
      </span>
    </div>
  );
});
