// The text of a note, as it reads or as it is written, and the choice between the two.
import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Markdown } from '@/parts/Markdown';
import { TextBlock } from '@/parts/TextBlock';
import type { NoteState, SetNoteState } from './noteState';

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
