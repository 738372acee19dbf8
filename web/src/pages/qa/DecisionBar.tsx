// The decisions, each with its key, and how far the work has come. It stays in view above a long answer.
import { Button, Kbd, Progress } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowMerge,
  IconCheck,
  IconPencil,
  IconPlayerSkipForward,
  IconX,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import classes from './Qa.module.css';

export const ACTIONS = ['approve', 'reject', 'edit', 'merge', 'skip', 'undo'] as const;
export type Action = (typeof ACTIONS)[number];

const LOOK: Record<Action, { icon: ComponentType<{ size: number; 'aria-hidden': boolean }>; letter: string }> = {
  approve: { icon: IconCheck, letter: 'A' },
  reject: { icon: IconX, letter: 'R' },
  edit: { icon: IconPencil, letter: 'E' },
  merge: { icon: IconArrowMerge, letter: 'M' },
  skip: { icon: IconPlayerSkipForward, letter: 'S' },
  undo: { icon: IconArrowBackUp, letter: 'U' },
};

type Props = {
  offered: Record<Action, boolean>;
  run: Record<Action, () => void>;
  progress: { position: number; total: number } | null;
  editing: boolean;
};

export function DecisionBar({ offered, run, progress, editing }: Props) {
  const { t } = useTranslation('qa');
  const { singleKeys } = usePreferences();
  return (
    <div className={classes['decide']} role="toolbar" aria-label={t('actions.label')}>
      {progress && (
        <div className={classes['progress']}>
          <span>{t('progress', progress)}</span>
          <Progress.Root size={4}>
            <Progress.Section
              value={(100 * progress.position) / progress.total}
              aria-label={t('progressLabel', progress)}
            />
          </Progress.Root>
        </div>
      )}
      <div className={classes['buttons']}>
        {ACTIONS.map((action) => {
          const { icon: Icon, letter } = LOOK[action];
          const colour = { approve: { color: 'green' }, reject: { color: 'red' } }[action as string];
          return (
            <Button
              key={action}
              variant={colour ? 'light' : 'default'}
              {...colour}
              leftSection={<Icon size={14} aria-hidden />}
              rightSection={
                singleKeys && (
                  <Kbd size="xs" aria-hidden>
                    {letter}
                  </Kbd>
                )
              }
              px={8}
              disabled={!offered[action] || (editing && action !== 'undo')}
              onClick={run[action]}
            >
              {t(`actions.${action}`)}
            </Button>
          );
        })}
      </div>
    </div>
  );
}
