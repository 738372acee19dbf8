// One search in the list, and the heading above them.
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { TimeText } from '@/parts/TimeText';
import { durationText } from '@/parts/amounts';

import type { Trace } from './queries';
import classes from './Viewer.module.css';

const wide = [`${classes['word']} cut`, classes['wide']].join(' ');
const middle = [classes['number'], classes['middle']].join(' ');

export function TraceHead() {
  const { t } = useTranslation('viewer');
  return (
    <div className={classes['head']} aria-hidden>
      <span className="cut grow">{t('traces.columns.query')}</span>
      <span className={wide}>{t('traces.columns.project')}</span>
      <span className={wide}>{t('traces.columns.mode')}</span>
      <span className={classes['few']}>{t('traces.columns.results')}</span>
      <span className={middle}>{t('traces.columns.ms')}</span>
      <span className={classes['when']}>{t('traces.columns.when')}</span>
    </div>
  );
}

export function TraceRow({ trace }: { trace: Trace }) {
  const { t, i18n } = useTranslation('viewer');
  const { query, project, mode, results, durationMs, atEpoch } = trace;
  return (
    <>
      <span className="cut grow" title={query} dir="auto">
        {query || <span className="muted">{t('traces.blank')}</span>}
      </span>
      <span className={wide} title={project}>
        {project || <span className="muted">{t('traces.everywhere')}</span>}
      </span>
      <span className={wide}>
        <ModeBadge mode={mode} />
      </span>
      <span className={classes['few']}>{results}</span>
      <span className={middle}>{durationText(durationMs, i18n.language)}</span>
      <span className={classes['when']}>
        <TimeText at={atEpoch} />
      </span>
    </>
  );
}

export function ModeBadge({ mode }: { mode: string }) {
  const { t } = useTranslation('viewer');
  const hybrid = mode === 'hybrid';
  return (
    <Badge color={hybrid ? 'blue' : 'yellow'}>
      {hybrid || mode === 'lexical-only' ? t(`traces.mode.${hybrid ? 'hybrid' : 'lexical-only'}`) : mode}
    </Badge>
  );
}
