// What was undone and so is hidden, and the button that brings it back at any time; the newest undo first.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { UndoDialog } from './UndoDialog';
import classes from './Acts.module.css';

type Props = { text: string; delta: string | null | undefined; /** What the button says. */ action?: string };

export function BringBack({ text, delta, action }: Props) {
  const { t } = useTranslation('timeline');
  const [asked, setAsked] = useState<string | null>(null);
  return (
    <div className={classes['notice']} role="status">
      <span>{text}</span>
      {delta && (
        <Button variant="default" onClick={() => setAsked(delta)}>
          {action ?? t('undo.bringBack')}
        </Button>
      )}
      {asked && <UndoDialog opened onClose={() => setAsked(null)} whose={{ delta: asked }} bringsBack />}
    </div>
  );
}
