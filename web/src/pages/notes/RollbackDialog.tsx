// Going back to an earlier version: first what would change, then, if it is wanted, a new version that says the same.
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { DiffPane } from '@/parts/DiffPane';
import { Panel } from '@/parts/Panel';
import { undoable } from '@/parts/undoable';
import { FieldChanges } from './FieldChanges';
import { useNotesChanged, wayBackQuery, type Note } from './queries';
import { rollBackNote } from './writes';
import classes from './Note.module.css';

type Props = { note: Note; version: number | null; onClose: () => void; onDone: () => void };

export function RollbackDialog({ note, version, onClose, onDone }: Props) {
  const { t } = useTranslation('notes');
  const changed = useNotesChanged();

  async function goBack(to: number) {
    const written = await rollBackNote(note.uri, to, note.version);
    await changed();
    onDone();
    undoable(t('rollback.done', { version: to, made: written.version }), async () => {
      await rollBackNote(note.uri, written.version - 1, written.version);
      await changed();
    });
  }

  return (
    <ConfirmDialog
      opened={version !== null}
      onClose={onClose}
      title={t('rollback.title', { version: version ?? 0 })}
      impact={version === null ? null : <Preview note={note} version={version} />}
      action={t('rollback.confirm', { version: version ?? 0 })}
      danger={false}
      size="xl"
      onConfirm={() => (version === null ? Promise.resolve() : goBack(version))}
    />
  );
}

function Preview({ note, version }: { note: Note; version: number }) {
  const { t } = useTranslation('notes');
  const query = useQuery(wayBackQuery(note.uri, version));
  return (
    <Stack gap="sm">
      <Text size="sm">{t('rollback.impact', { version, made: note.version + 1 })}</Text>
      <Panel state={query} label={t('rollback.preview')} className={classes['bare'] ?? ''} flush>
        {(way) => (
          <>
            <div className={classes['scroll']}>
              <DiffPane
                before={way.before.content}
                after={way.after.content}
                names={[t('rollback.now', { version: way.version }), t('rollback.then', { version: way.version + 1 })]}
              />
            </div>
            <FieldChanges changes={way.changes} names={[t('rollback.nowShort'), t('rollback.thenShort')]} />
            {way.restores && <p className={classes['foot']}>{t('rollback.restores')}</p>}
          </>
        )}
      </Panel>
    </Stack>
  );
}
