// What a note says: now, in an earlier version, or while it is being changed.
import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Markdown } from '@/parts/Markdown';
import { Panel } from '@/parts/Panel';
import { TextBlock } from '@/parts/TextBlock';
import { NoteEditor } from './NoteEditor';
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

export function Said({ text, view }: { text: string; view: NoteState['view'] }) {
  return view === 'source' ? <TextBlock text={text} mono name="note.md" /> : <Markdown text={text} />;
}

export function Manner({ text, state, set }: { text: string; state: NoteState; set: SetNoteState }) {
  const { t } = useTranslation(['notes', 'common']);
  return (
    <>
      <SegmentedControl
        aria-label={t('content.manner')}
        data={[
          { value: 'rendered', label: t('content.rendered') },
          { value: 'source', label: t('content.source') },
        ]}
        value={state.view}
        onChange={(value) => set({ view: value === 'source' ? 'source' : 'rendered' }, { replace: true })}
      />
      <CopyButton value={text} label={t('common:text')} />
    </>
  );
}
