// Lines above a note that a reader must not miss.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ErrorCard } from '@/parts/ErrorCard';
import { Ref } from '@/parts/Ref';
import { notify } from '@/parts/undoable';
import { useNotesChanged, type Note } from './queries';
import { restoreNote } from './writes';
import classes from './Note.module.css';

export function AliasNotice({ uri }: { uri: string }) {
  const { t } = useTranslation('notes');
  return (
    <div className={classes['notice']}>
      <span>
        {t('aliases.visited')} <Ref reference={uri} copy={false} />
      </span>
    </div>
  );
}

export function DeletedNotice({ note }: { note: Note }) {
  const { t } = useTranslation('notes');
  const changed = useNotesChanged();
  const restore = useMutation({
    mutationFn: () => restoreNote(note.uri),
    onSuccess: async (written) => {
      await changed();
      notify(t('deleted.restored', { version: written.version }));
    },
  });
  return (
    <>
      <div className={classes['notice']} data-tone="warn" role="status">
        <span>{note.restorable === null ? t('deleted.lost') : t('deleted.why', { version: note.restorable })}</span>
        {note.restorable !== null && (
          <Button onClick={() => restore.mutate()} loading={restore.isPending}>
            {t('deleted.restore')}
          </Button>
        )}
      </div>
      {restore.isError && <ErrorCard error={restore.error} />}
    </>
  );
}
