// What can be done with one memory, of whatever kind: the usual acts as buttons, the others in a menu. A notice tells
// what was done and takes it back.
import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconEraser } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Living } from '@/api/life';
import { ActDialog } from './ActDialog';
import { ICONS, isAsking, type Asking } from './look';
import { offeredFor } from './offered';
import { useActs, type Doable } from './useActs';

type Props = {
  memory: Living;
  /** Acts for which the page has its own way. */
  without?: readonly Doable[];
  /** The page's own editor instead of the dialog. */
  onEdit?: () => void;
  onForget?: () => void;
  /** Further entries of the menu. */
  items?: ReactNode;
  /** Everything in the menu: where there is little room. */
  small?: boolean;
};

const USUAL: readonly Doable[] = ['approve', 'edit', 'pin', 'unpin', 'unhide'];
const NONE: readonly Doable[] = [];
const HINTED = ['pin', 'withhold', 'deprecate', 'hide'] as const;

export function MemoryActs({ memory, without = NONE, onEdit, onForget, items, small = false }: Props) {
  const { t } = useTranslation('life');
  const { perform, run } = useActs();
  const [asked, setAsked] = useState<{ act: Asking; memory: Living } | null>(null);
  const [busy, setBusy] = useState<Doable | null>(null);
  const offered = offeredFor([memory]).filter((act) => !without.includes(act));
  const usual = small ? NONE : offered.filter((act) => USUAL.includes(act));
  const others = offered.filter((act) => !usual.includes(act));

  async function choose(act: Doable) {
    if (act === 'edit' && onEdit) return onEdit();
    if (isAsking(act)) return setAsked({ act, memory });
    setBusy(act);
    await run(act, [memory]);
    setBusy(null);
  }

  return (
    <>
      {usual.map((act) => {
        const Icon = ICONS[act];
        return (
          <Button
            key={act}
            {...(act === 'approve' ? { variant: 'light', color: 'green' } : { variant: 'default' })}
            leftSection={<Icon size={14} aria-hidden />}
            title={act === 'pin' ? t('hints.pin') : undefined}
            loading={busy === act}
            onClick={() => void choose(act)}
          >
            {t(`acts.${act}`)}
          </Button>
        );
      })}
      {(others.length > 0 || onForget || items) && (
        <Menu position="bottom-end" keepMounted={false}>
          <Menu.Target>
            <ActionIcon variant={small ? 'subtle' : 'default'} size={small ? 24 : 30} aria-label={t('acts.more')}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map((act) => {
              const Icon = ICONS[act];
              const hinted = HINTED.find((each) => each === act);
              return (
                <Menu.Item
                  key={act}
                  leftSection={<Icon size={14} aria-hidden />}
                  title={hinted && t(`hints.${hinted}`)}
                  onClick={() => void choose(act)}
                >
                  {t(`acts.${act}`)}
                </Menu.Item>
              );
            })}
            {items}
            {onForget && (
              <>
                <Menu.Divider />
                <Menu.Item color="red" leftSection={<IconEraser size={14} />} onClick={onForget}>
                  {t('acts.forget')}
                </Menu.Item>
              </>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
      {asked && (
        <ActDialog act={asked.act} memories={[asked.memory]} onClose={() => setAsked(null)} perform={perform} />
      )}
    </>
  );
}
