// What came of a turn: one observation or summary.
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { TextBlock } from '@/parts/TextBlock';
import type { TimelineKind } from './filters';
import { KindMark } from './KindMark';
import { MemoryText } from './MemoryText';
import { memoryText, type SessionMemory } from './queries';
import classes from './Session.module.css';

export function MemoryDetail({ memory }: { memory: SessionMemory }) {
  const { t } = useTranslation('timeline');
  const kind = memory.kind as TimelineKind;
  const text = useQuery({
    queryKey: ['timeline', 'memory', 'text', kind, memory.seq],
    queryFn: ({ signal }) => memoryText(kind, memory.seq, signal),
    enabled: !memory.hidden,
  });
  if (memory.hidden) {
    return (
      <Panel title={memory.title || t('list.noTitle')}>
        <Group gap="sm" className={classes['facets']}>
          <Ref reference={memory.ref} />
          <KindMark kind={memory.kind} type={memory.type} />
          <span>{t('sessionPage.hiddenMark')}</span>
        </Group>
        <TextBlock text={memory.snippet} />
      </Panel>
    );
  }
  return (
    <Panel title={memory.title || t('list.noTitle')} state={text}>
      {(whole) => (
        <>
          <Group gap="sm" className={classes['facets']}>
            <Ref reference={memory.ref} />
            <KindMark kind={memory.kind} type={memory.type} />
            <TimeText at={memory.created_ms} />
          </Group>
          <MemoryText text={whole} />
        </>
      )}
    </Panel>
  );
}
