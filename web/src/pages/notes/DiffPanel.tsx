// Two versions of a note side by side or one below the other; any pair can be chosen.
import { Button, Select } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { DiffPane } from '@/parts/DiffPane';
import { Panel } from '@/parts/Panel';
import type { Pair } from './addresses';
import { FieldChanges } from './FieldChanges';
import type { NoteState, SetNoteState } from './noteState';
import { diffQuery, type Note, type NoteVersion } from './queries';
import classes from './Note.module.css';

type Props = {
  note: Note;
  pair: Pair;
  versions: readonly NoteVersion[];
  state: NoteState;
  set: SetNoteState;
  onRollback: (version: number) => void;
};

export function DiffPanel({ note, pair, versions, state, set, onRollback }: Props) {
  const { t } = useTranslation('notes');
  const query = useQuery(diffQuery(note.uri, pair.before, pair.after));
  const names = [t('version', { version: pair.before }), t('version', { version: pair.after })] as const;
  // The older of the two that is not what stands now: that is where one would want to go back to.
  const target = [pair.before, pair.after].sort((a, b) => a - b).find((each) => each !== note.version);
  const numbers = new Set([...versions.map((each) => each.version), pair.before, pair.after]);
  const newest = [...numbers].sort((a, b) => b - a);
  const choices = newest.map((each) => ({ value: String(each), label: t('version', { version: each }) }));
  const choose = (before: number, after: number) => set({ diff: `${before}..${after}` });
  return (
    <Panel title={t('diff.title')} flush>
      <div className={classes['pair']}>
        <Select
          w={110}
          label={t('diff.before')}
          data={choices}
          value={String(pair.before)}
          onChange={(value) => choose(Number(value ?? pair.before), pair.after)}
          allowDeselect={false}
        />
        <Select
          w={110}
          label={t('diff.after')}
          data={choices}
          value={String(pair.after)}
          onChange={(value) => choose(pair.before, Number(value ?? pair.after))}
          allowDeselect={false}
        />
      </div>
      <Panel state={query} label={t('diff.content')} className={classes['bare'] ?? ''}>
        {(told) => (
          <>
            {told.before.content === told.after.content && told.changes.length > 0 ? (
              <p className={classes['same']}>{t('diff.sameContent')}</p>
            ) : (
              <div className={classes['scroll']}>
                <DiffPane
                  before={told.before.content}
                  after={told.after.content}
                  names={names}
                  {...(state.mode ? { mode: state.mode } : {})}
                  onMode={(mode) => set({ mode }, { replace: true })}
                />
              </div>
            )}
            <FieldChanges changes={told.changes} names={names} />
          </>
        )}
      </Panel>
      {target !== undefined && (
        <div className={classes['foot']}>
          <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => onRollback(target)}>
            {t('rollback.open', { version: target })}
          </Button>
          <span>{t('rollback.makes', { version: note.version + 1 })}</span>
        </div>
      )}
    </Panel>
  );
}
