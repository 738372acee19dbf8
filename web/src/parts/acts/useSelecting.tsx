// Rows of a list that are selected, what is done with all of them, and one undo for it. The list draws the boxes
// (`toggle`), the page the bar.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { useMemoriesChanged, type Living } from '@/api/life';
import { ForgetDialog } from './ForgetDialog';
import { SelectionBar } from './SelectionBar';
import { useSelection } from './useSelection';

/** `done` hears of rows that were changed or forgotten. */
export function useSelecting<T extends Living>(
  rows: readonly T[],
  done?: (seqs: readonly number[], forgotten: boolean) => void,
) {
  const { t } = useTranslation(['life', 'timeline']);
  const changed = useMemoriesChanged();
  const { selected, isSelected, toggle, all, clear } = useSelection(rows);
  const [forgets, setForgets] = useState<readonly T[]>([]);
  useShortcuts([
    ...(rows.length ? [{ keys: 'A', label: t('select.allKey'), group: 'lists' as const, run: all }] : []),
    ...(selected.length ? [{ keys: 'Escape', label: t('select.clear'), run: clear }] : []),
  ]);
  const seqs = (of: readonly T[]) => of.map(({ seq }) => seq);
  const count = forgets.length;
  const bar = (
    <>
      <SelectionBar
        memories={selected}
        total={rows.length}
        onAll={all}
        onForget={() => setForgets(selected)}
        onDone={() => {
          done?.(seqs(selected), false);
          clear();
        }}
        onClear={clear}
      />
      {count > 0 && (
        <ForgetDialog
          opened
          onClose={() => setForgets([])}
          what={{ ids: seqs(forgets) }}
          name={t('timeline:forget.manyWord', { count })}
          many={count}
          onForgotten={() => {
            done?.(seqs(forgets), true);
            clear();
            void changed();
          }}
        />
      )}
    </>
  );
  return {
    toggle: {
      labels: { x: t('select.key'), X: t('select.rangeKey') },
      run: toggle,
      isOn: ({ seq }: T) => isSelected(seq),
      nameOf: ({ ref }: T) => t('select.one', { what: ref }),
    },
    bar,
  };
}
