// A quick look at a row without leaving its list: Space opens and closes it, j and k go on to the next row.
import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { KeyboardEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { livingOf, memoryQuery } from '@/api/life';
import { LifeMarks, useOriginName } from './acts/LifeMarks';
import { KindMark } from './KindMark';
import { Panel } from './Panel';
import { Ref } from './Ref';
import { TextBlock } from './TextBlock';
import { TimeText } from './TimeText';
import classes from './Peek.module.css';

type Props = { onClose: () => void; onMove: (step: 1 | -1) => void; onOpen?: () => void; children: ReactNode };

const STEPS: Record<string, 1 | -1> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function Peek({ onClose, onMove, onOpen, children }: Props) {
  const { t } = useTranslation();
  function onKeyDown(event: KeyboardEvent) {
    const within = event.target instanceof HTMLElement && event.target.closest('a,button');
    const step = STEPS[event.key];
    if (step) onMove(step);
    else if (event.key === ' ' && !within) onClose();
    else if (event.key === 'Enter' && !within) {
      onClose();
      onOpen?.();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <Modal
      opened
      onClose={onClose}
      onKeyDown={onKeyDown}
      title={t('peek.title')}
      size="xl"
      returnFocus={false}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <div className={classes['inside']} tabIndex={-1} data-autofocus>
        {children}
        <p className={classes['keys']}>{t('peek.keys')}</p>
      </div>
    </Modal>
  );
}

/** A memory of whatever kind, as it is stored. */
export function MemoryPeek({ reference }: { reference: string }) {
  const { t } = useTranslation();
  const origin = useOriginName();
  const query = useQuery(memoryQuery(reference));
  return (
    <Panel label={reference} state={query} className={classes['plain'] ?? ''} flush>
      {(memory) => {
        const living = livingOf(memory);
        return (
          <>
            <h3 className={classes['title']} dir="auto">
              {living.title}
            </h3>
            <div className={classes['about']}>
              <Ref reference={living.ref} />
              <KindMark kind={memory.kind} type={memory.type} />
              <LifeMarks life={living.life} marks={living.marks} />
              <TimeText at={memory.created_ms} />
              <span>{living.project}</span>
              <span>{t('peek.by', { who: origin(living.origin) })}</span>
            </div>
            <TextBlock text={memory.content} />
          </>
        );
      }}
    </Panel>
  );
}
