// An earlier version, read in place of the current one.
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import { Manner, Said } from './NoteText';
import type { NoteState, SetNoteState } from './noteState';
import { versionQuery, type Note } from './queries';
import { RollbackDialog } from './RollbackDialog';
import classes from './Note.module.css';

type Props = { note: Note; version: number; state: NoteState; set: SetNoteState };

export function OldVersion({ note, version, state, set }: Props) {
  const { t } = useTranslation('notes');
  const query = useQuery(versionQuery(note.uri, version));
  const [asked, setAsked] = useState(false);
  return (
    <div className={classes['main']}>
      <div className={classes['notice']} role="status">
        <span>{t('old.notice', { version, current: note.version })}</span>
        <Button variant="default" onClick={() => set({ v: null })}>
          {t('old.now')}
        </Button>
        <Button
          variant="default"
          onClick={() => set({ tab: 'versions', v: null, diff: `${version}..${note.version}` })}
        >
          {t('old.compare')}
        </Button>
        <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => setAsked(true)}>
          {t('rollback.open', { version })}
        </Button>
      </div>
      <Panel
        title={t('old.title', { version })}
        state={query}
        actions={query.data && <Manner text={query.data.content} state={state} set={set} />}
      >
        {(said) => (
          <>
            <p className={classes['same']}>
              {t('by', { who: said.actor })} · <TimeText at={said.created_ms} />
            </p>
            <Said text={said.content} view={state.view} />
          </>
        )}
      </Panel>
      <RollbackDialog
        note={note}
        version={asked ? version : null}
        onClose={() => setAsked(false)}
        onDone={() => set({ v: null }, { replace: true })}
      />
    </div>
  );
}
