// What can be done about a memory that an agent is told, or just is not: the usual acts as buttons, all in a menu.
import { ActionIcon, Menu } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Living } from '@/api/life';
import { ActDialog } from '@/parts/acts/ActDialog';
import { ICONS, isAsking, type Asking } from '@/parts/acts/look';
import { MemoryActs } from '@/parts/acts/MemoryActs';
import { offeredFor } from '@/parts/acts/offered';
import { useActs, type Doable } from '@/parts/acts/useActs';
import classes from './Brief.module.css';
import { livingOf, type ContextMemory } from './queries';

const QUICK: readonly Doable[] = ['approve', 'pin', 'unpin', 'edit', 'withhold', 'release'];

type Props = { memory: ContextMemory; onExplain: (reference: string) => void };

export function LineActs({ memory, onExplain }: Props) {
  const { t } = useTranslation(['life', 'next']);
  const { perform, run } = useActs();
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ act: Asking; memory: Living } | null>(null);
  const living = livingOf(memory);

  async function choose(act: Doable) {
    if (isAsking(act)) return setAsked({ act, memory: living });
    setBusy(true);
    await run(act, [living]);
    setBusy(false);
  }

  return (
    <span className={classes['acts']} role="group" aria-label={t('next:acts', { what: memory.ref })}>
      {offeredFor([living])
        .filter((act) => QUICK.includes(act))
        .map((act) => {
          const Icon = ICONS[act];
          return (
            <ActionIcon
              key={act}
              size={24}
              className={classes['quick'] ?? ''}
              data-always={act === 'pin' || act === 'unpin' || undefined}
              aria-label={t(`acts.${act}`)}
              title={t(`acts.${act}`)}
              disabled={busy}
              onClick={() => void choose(act)}
            >
              <Icon size={15} aria-hidden />
            </ActionIcon>
          );
        })}
      <ActionIcon
        size={24}
        className={classes['quick'] ?? ''}
        aria-label={t('next:why')}
        title={t('next:why')}
        onClick={() => onExplain(memory.ref)}
      >
        <IconInfoCircle size={15} aria-hidden />
      </ActionIcon>
      <MemoryActs
        memory={living}
        items={
          <Menu.Item leftSection={<IconInfoCircle size={14} aria-hidden />} onClick={() => onExplain(memory.ref)}>
            {t('next:why')}
          </Menu.Item>
        }
        small
      />
      {asked && (
        <ActDialog act={asked.act} memories={[asked.memory]} onClose={() => setAsked(null)} perform={perform} />
      )}
    </span>
  );
}
