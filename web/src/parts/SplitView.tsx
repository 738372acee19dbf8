// A list beside what is chosen in it. On a narrow screen one of them at a time, with a way back to the list.
import { Button } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './SplitView.module.css';

type Props = {
  left: ReactNode;
  /** Null: there is nothing beside the list, and it has the whole width. */
  right: ReactNode;
  /** Whether something is chosen: a narrow screen then shows the right side. */
  chosen: boolean;
  /** Back to the list, on a narrow screen. */
  onBack: () => void;
  /** Width of the list on a wide screen. */
  leftWidth?: string;
  /** The list stays in view while the right side scrolls; for lists that are lower than the screen. */
  sticky?: boolean;
};

export function SplitView({ left, right, chosen, onBack, leftWidth = 'minmax(280px, 2fr)', sticky }: Props) {
  const { t } = useTranslation();
  return (
    <div
      className={classes['split']}
      data-chosen={chosen || undefined}
      style={{ gridTemplateColumns: right === null ? 'minmax(0, 1fr)' : `${leftWidth} minmax(0, 3fr)` }}
    >
      <div className={classes['left']} data-sticky={sticky || undefined}>
        {left}
      </div>
      {right !== null && (
        <div className={classes['right']}>
          <Button
            className={classes['back']}
            variant="subtle"
            leftSection={<IconArrowLeft size={14} />}
            onClick={onBack}
          >
            {t('back')}
          </Button>
          {right}
        </div>
      )}
    </div>
  );
}
