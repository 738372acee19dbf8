// Doing something to memories: told at once, with a button that takes all of it back; a refusal is told and changes
// nothing.
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { act, correctQa, useMemoriesChanged, type Act, type Change, type Living } from '@/api/life';
import { undo } from '@/api/undo';
import { reasonOf } from '../errorText';
import { notify, notifyError, undoable } from '../undoable';
import { brief } from '../useDecisions';

/** What the pages offer. Who may see a memory is said on the command line, where people and groups are. */
export type Doable = Exclude<Act, 'share'>;
/** Tags are those of a question with its answer. */
export type Perform = (
  change: Change & { act: Doable; tags?: string[] },
  memories: readonly Living[],
) => Promise<unknown>;

export function useActs() {
  const { t } = useTranslation('life');
  const changed = useMemoriesChanged();

  /** Resolves when the server has it and the page shows it; a refusal is thrown, for a dialog to show. */
  const perform = useCallback<Perform>(
    async (change, memories) => {
      const { tags, ...rest } = change;
      const [first] = memories;
      const seqs = memories.map(({ seq }) => seq);
      const done =
        first && tags
          ? { changed: seqs, unchanged: seqs, delta: (await correctQa(first.ref, change)).delta }
          : await act(rest, seqs);
      const { delta } = done;
      void changed();
      const count = change.act === 'merge' ? memories.length : Math.max(done.changed.length, 1);
      const what = first ? brief(first.title || first.ref) + (memories.length > 1 ? ' …' : '') : '';
      if (delta === null) return notify(t('unchanged', { count: done.unchanged.length }));
      const shown = ['edit', 'split', 'supersede'].includes(change.act) ? memories.length : count;
      undoable(t(`done.${change.act}`, { count: shown, what }), async () => {
        await undo({ delta }, 'safe');
        await changed();
      });
    },
    [t, changed],
  );

  /** For buttons that ask nothing first. */
  const run = useCallback(
    async (which: Doable, memories: readonly Living[]) => {
      try {
        await perform({ act: which }, memories);
      } catch (thrown) {
        notifyError(t('failed', { reason: reasonOf(thrown) }));
      }
    },
    [t, perform],
  );
  return { perform, run };
}
