// A memory that was taken back and so stands in no list; what took it back can itself be taken back.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Provenance } from './queries';
import { UndoDialog } from './UndoDialog';
import classes from './Observation.module.css';

export function MemoryHidden({ from }: { from: Provenance }) {
  const { t } = useTranslation('timeline');
  const [asked, setAsked] = useState(false);
  const last = from.versions[0]?.delta ?? null;
  return (
    <div className={classes['hidden']} role="status">
      <span>{t('memory.hidden')}</span>
      {last && (
        <>
          <Button variant="default" onClick={() => setAsked(true)}>
            {t('memory.bringBack')}
          </Button>
          <UndoDialog opened={asked} onClose={() => setAsked(false)} whose={{ delta: last }} title={t('undo.back')} />
        </>
      )}
    </div>
  );
}
