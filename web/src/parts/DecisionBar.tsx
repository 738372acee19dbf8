// The decisions of a review, each with its key, and how far the work has come. It stays in view above a long text.
import '@mantine/core/styles/Progress.layer.css';
import { Button, Kbd, Progress } from '@mantine/core';
import type { ComponentType } from 'react';
import { usePreferences } from '@/app/preferences';
import classes from './DecisionBar.module.css';

export type Decision = {
  name: string;
  label: string;
  /** The key as it is shown. */
  letter: string;
  icon: ComponentType<{ size: number; 'aria-hidden': boolean }>;
  colour?: 'green' | 'red' | undefined;
  disabled?: boolean;
  run: () => void;
};

type Props = {
  label: string;
  decisions: readonly Decision[];
  progress: { position: number; total: number; text: string; label: string } | null;
};

export function DecisionBar({ label, decisions, progress }: Props) {
  const { singleKeys } = usePreferences();
  return (
    <div className={classes['decide']} role="toolbar" aria-label={label}>
      {progress && (
        <div className={classes['progress']}>
          <span>{progress.text}</span>
          <Progress.Root size={4}>
            <Progress.Section value={(100 * progress.position) / progress.total} aria-label={progress.label} />
          </Progress.Root>
        </div>
      )}
      <div className={classes['buttons']}>
        {decisions.map(({ name, label: word, letter, icon: Icon, colour, disabled = false, run }) => (
          <Button
            key={name}
            variant={colour ? 'light' : 'default'}
            {...(colour ? { color: colour } : {})}
            leftSection={<Icon size={14} aria-hidden />}
            rightSection={
              singleKeys && (
                <Kbd size="xs" aria-hidden>
                  {letter}
                </Kbd>
              )
            }
            px={8}
            disabled={disabled}
            onClick={run}
          >
            {word}
          </Button>
        ))}
      </div>
    </div>
  );
}
