// What a note says: now, in an earlier version, or while it is being changed.
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { NoteEditor } from './NoteEditor';
import { Manner, Said } from './NoteText';
import { NoteMeta } from './NoteMeta';
import type { NoteState, SetNoteState } from './noteState';
import { OldVersion } from './OldVersion';
import type { Note } from './queries';
import classes from './Note.module.css';

type Props = { note: Note; state: NoteState; set: SetNoteState };

export function ContentTab({ note, state, set }: Props) {
  const { t } = useTranslation('notes');
  if (state.v !== null && state.v !== note.version) {
    return <OldVersion note={note} version={state.v} state={state} set={set} />;
  }
  if (state.edit && !note.deleted) {
    return <NoteEditor note={note} onDone={() => set({ edit: false }, { replace: true })} />;
  }
  return (
    <div className={classes['reading']}>
      <Panel title={t('tabs.content')} actions={<Manner text={note.content} state={state} set={set} />}>
        <Said text={note.content} view={state.view} />
      </Panel>
      <NoteMeta note={note} />
    </div>
  );
}
