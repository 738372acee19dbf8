// The queue: one line per item, with how far it is believed and whether something contradicts it.
import { Tooltip, VisuallyHidden } from '@mantine/core';
import { IconArrowsSplit2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { NewRows } from '@/parts/NewRows';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import classes from './Qa.module.css';
import type { QueueRow } from './queries';
import type { Shelf } from './shelves';
import type { Queue } from './useQueue';

type Props = {
  queue: Queue;
  shelf: Shelf;
  project: string;
  words: string;
  current: string | null;
  fresh: number;
  onFresh: () => void;
  onSelect: (id: string) => void;
  onClear: () => void;
};

const ROW = 58;

export function QueueList(props: Props) {
  const { queue, shelf, project, words, current, fresh, onFresh, onSelect, onClear } = props;
  const { t } = useTranslation('qa');
  const filter = project && words ? 'both' : words ? 'words' : 'project';
  return (
    <Panel
      title={t('queue.title')}
      state={queue.query}
      isEmpty={() => queue.rows.length === 0 && !queue.hasMore}
      empty={t(`queue.empty.${shelf}`, { returnObjects: true })}
      filtered={project || words ? { text: t(`queue.filtered.${filter}`, { project, words }), onClear } : undefined}
      actions={fresh > 0 && <NewRows count={fresh} onShow={onFresh} />}
      flush
    >
      <VirtualRows
        label={t('queue.label')}
        rows={queue.rows}
        keyOf={(row) => row.id}
        rowHeight={ROW}
        height="min(70vh, 640px)"
        selectedKey={current}
        onSelect={(row) => onSelect(row.id)}
        onEndReached={queue.more}
        loadingMore={queue.loadingMore}
        render={(row) => <QueueLine row={row} shelf={shelf} project={!project} />}
      />
    </Panel>
  );
}

/** Says only what the shelf and the filter do not say already. */
function QueueLine({ row, shelf, project }: { row: QueueRow; shelf: Shelf; project: boolean }) {
  const { t } = useTranslation('qa');
  const status = shelf === 'expired' || row.status !== shelf;
  return (
    <div className={classes['line']}>
      <div className={classes['asked']} dir="auto">
        {row.question}
      </div>
      <div className={classes['about']}>
        {status && <StatusMark status={row.status} />}
        {project && <span className={classes['project']}>{row.project}</span>}
        <TimeText at={row.created} />
        {row.contradicted && (
          <Tooltip label={t('queue.contradicted')}>
            <span className={classes['against']}>
              <IconArrowsSplit2 size={14} aria-hidden />
              <VisuallyHidden>{t('queue.contradicted')}</VisuallyHidden>
            </span>
          </Tooltip>
        )}
        {row.confidence !== null && (
          <Tooltip label={t('queue.confidence', { value: row.confidence.toFixed(2) })}>
            <span className={classes['believed']}>
              {!status && (
                <span className={classes['bar']} aria-hidden>
                  <span style={{ width: `${row.confidence * 100}%` }} />
                </span>
              )}
              <span>{row.confidence.toFixed(2)}</span>
            </span>
          </Tooltip>
        )}
      </div>
    </div>
  );
}
