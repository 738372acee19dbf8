// Every version of a note: who wrote it, when and what changed; two of them side by side; and the way back.
import { ActionIcon, Badge, Group, Tooltip } from '@mantine/core';
import { IconArrowBackUp, IconEye } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import { pairOf } from './addresses';
import { DiffPanel } from './DiffPanel';
import { useFieldName } from './FieldChanges';
import type { NoteState, SetNoteState } from './noteState';
import { versionPage, type Note, type NoteVersion } from './queries';
import { RollbackDialog } from './RollbackDialog';
import { useOpName } from './useOpName';
import classes from './Note.module.css';

type Props = { note: Note; state: NoteState; set: SetNoteState };

export function VersionsTab({ note, state, set }: Props) {
  const { t } = useTranslation('notes');
  const [wanted, setWanted] = useState<number | null>(null);
  // A new version is a new list: it begins with it.
  const queryKey = useMemo(() => ['notes', 'versions', note.uri, note.version], [note.uri, note.version]);
  const { query, rows, more, loadingMore } = usePages(queryKey, (cursor) => versionPage(note.uri, cursor));
  const pair = pairOf(state.diff) ?? (note.version > 1 ? { before: note.version - 1, after: note.version } : null);
  return (
    <div className={classes['main']}>
      <Panel
        title={t('versions.title')}
        state={query}
        isEmpty={() => !rows.length}
        empty={{ title: t('versions.none') }}
        flush
      >
        <VirtualRows
          rows={rows}
          keyOf={(row) => String(row.version)}
          label={t('versions.title')}
          height={`calc(var(--cm-row) * ${Math.min(Math.max(rows.length, 1), 7)} + 1px)`}
          selectedKey={pair ? String(pair.after) : null}
          onSelect={(row) => set({ diff: `${Math.max(row.version - 1, 1)}..${row.version}` }, { replace: true })}
          onOpen={(row) => set({ tab: 'content', v: row.version })}
          onEndReached={more}
          loadingMore={loadingMore}
          render={(row) => (
            <VersionLine
              row={row}
              current={note.version}
              onView={() => set({ tab: 'content', v: row.version })}
              onRollback={() => setWanted(row.version)}
            />
          )}
        />
      </Panel>
      {pair ? (
        <DiffPanel note={note} pair={pair} versions={rows} state={state} set={set} onRollback={setWanted} />
      ) : (
        <Panel label={t('diff.title')}>{t('versions.only')}</Panel>
      )}
      <RollbackDialog
        note={note}
        version={wanted}
        onClose={() => setWanted(null)}
        onDone={() => set({ diff: '' }, { replace: true })}
      />
    </div>
  );
}

type LineProps = { row: NoteVersion; current: number; onView: () => void; onRollback: () => void };

function VersionLine({ row, current, onView, onRollback }: LineProps) {
  const { t } = useTranslation('notes');
  const fieldName = useFieldName();
  const opName = useOpName();
  const fields = row.changed.map(fieldName).join(t('versions.comma'));
  return (
    <div className={classes['version']}>
      <span className={classes['number']}>{t('version', { version: row.version })}</span>
      <span className={classes['what']} title={row.note}>
        {opName(row.op)}
        {fields && <span className={classes['muted']}> {fields}</span>}
      </span>
      {row.version === current && <Badge color="green">{t('versions.now')}</Badge>}
      <span className={classes['who']}>{row.actor}</span>
      <span className={classes['when']}>
        <TimeText at={row.created_ms} />
      </span>
      <Group gap={2} wrap="nowrap" w={52}>
        <Tooltip label={t('versions.view', { version: row.version })}>
          <ActionIcon
            size={24}
            aria-label={t('versions.view', { version: row.version })}
            onClick={(event) => {
              event.stopPropagation();
              onView();
            }}
          >
            <IconEye size={14} />
          </ActionIcon>
        </Tooltip>
        {row.version !== current && (
          <Tooltip label={t('rollback.open', { version: row.version })}>
            <ActionIcon
              size={24}
              aria-label={t('rollback.open', { version: row.version })}
              onClick={(event) => {
                event.stopPropagation();
                onRollback();
              }}
            >
              <IconArrowBackUp size={14} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </div>
  );
}
