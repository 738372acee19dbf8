// The acts for many memories at once, at the lower edge of the page while some are selected; one notice takes all of it
// back.
import { Button, CloseButton } from '@mantine/core';
import { IconChecks, IconEraser } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { MOST_AT_ONCE, type Living } from '@/api/life';
import { ActDialog } from './ActDialog';
import { ICONS, isAsking, type Asking } from './look';
import { mergeable, offeredFor } from './offered';
import { useActs, type Doable, type Perform } from './useActs';
import classes from './Acts.module.css';

type Props = {
  memories: readonly Living[];
  /** How many could be selected. */
  total: number;
  onAll: () => void;
  onForget: () => void;
  /** An act was done. */
  onDone: () => void;
  onClear: () => void;
};

export function SelectionBar({ memories, total, onAll, onForget, onDone, onClear }: Props) {
  const { t } = useTranslation('life');
  const { perform, run } = useActs();
  const [asked, setAsked] = useState<Asking | null>(null);
  const [busy, setBusy] = useState<Doable | null>(null);
  if (!memories.length) return null;
  const tooMany = memories.length > MOST_AT_ONCE;
  const most = Math.min(total, MOST_AT_ONCE);

  async function choose(act: Doable) {
    if (isAsking(act)) return setAsked(act);
    setBusy(act);
    await run(act, memories);
    setBusy(null);
    onDone();
  }
  const performed: Perform = async (change, all) => {
    await perform(change, all);
    onDone();
  };

  return (
    <div className={classes['bar']} role="toolbar" aria-label={t('select.bar')}>
      <strong role="status">{t('select.count', { count: memories.length })}</strong>
      {memories.length < most && (
        <Button variant="subtle" leftSection={<IconChecks size={14} aria-hidden />} onClick={onAll}>
          {t('select.all', { count: most })}
        </Button>
      )}
      {tooMany && <span>{t('select.most', { number: MOST_AT_ONCE })}</span>}
      {offeredFor(memories).map((act) => {
        const Icon = ICONS[act];
        const apart = act === 'merge' && !mergeable(memories);
        return (
          <Button
            key={act}
            variant="default"
            leftSection={<Icon size={14} aria-hidden />}
            disabled={tooMany || apart || (busy !== null && busy !== act)}
            title={apart ? t('merge.same') : undefined}
            loading={busy === act}
            onClick={() => void choose(act)}
          >
            {t(`acts.${act}`)}
          </Button>
        );
      })}
      <Button
        variant="default"
        color="red"
        c="var(--cm-err)"
        leftSection={<IconEraser size={14} aria-hidden />}
        disabled={busy !== null}
        onClick={onForget}
      >
        {t('acts.forget')}
      </Button>
      <CloseButton aria-label={t('select.clear')} title={t('select.clear')} onClick={onClear} />
      {asked && <ActDialog act={asked} memories={memories} onClose={() => setAsked(null)} perform={performed} />}
    </div>
  );
}
