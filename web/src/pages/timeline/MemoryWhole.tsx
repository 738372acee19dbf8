// Everything about one memory of the timeline: what it says, who wrote it, its versions, and what can be done with it.
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { IconChevronDown, IconChevronUp, IconTimeline } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { BringBack } from './BringBack';
import type { TimelineKind } from './filters';
import { ForgetDialog } from './ForgetDialog';
import { KindMark } from './KindMark';
import { MemoryAbout } from './MemoryAbout';
import { MemoryRelatives } from './MemoryRelatives';
import { MemoryText } from './MemoryText';
import { MemoryVersions } from './MemoryVersions';
import { memoryText, neighbours, type Provenance } from './queries';
import { TextLink } from '@/parts/TextLink';
import { useDropped } from './useDropped';
import classes from './Observation.module.css';

const LONGEST = 120; // characters of a heading

export function MemoryWhole({ from, kind }: { from: Provenance; kind: TimelineKind }) {
  const { t } = useTranslation(['timeline', 'common']);
  const { memory } = from;
  const navigate = useNavigate();
  const drop = useDropped();
  const [asked, setAsked] = useState<'provenance' | 'forget' | null>(null);
  const hidden = memory.status === 'deleted';
  const text = useQuery({
    queryKey: ['timeline', 'memory', 'text', kind, memory.seq],
    queryFn: ({ signal }) => memoryText(kind, memory.seq, signal),
    enabled: !hidden,
  });
  const beside = useQuery({
    queryKey: ['timeline', 'memory', 'beside', memory.seq],
    queryFn: ({ signal }) => neighbours(memory.seq, memory.project, signal),
  });
  const { newer, older } = beside.data ?? {};
  const go = (to: { seq: number } | undefined) =>
    to && void navigate({ to: '/ui/observations/$seq', params: { seq: String(to.seq) } });
  useShortcuts([
    { keys: 'j', label: t('memory.older'), run: () => go(older) },
    { keys: 'k', label: t('memory.newer'), run: () => go(newer) },
  ]);
  const name = memory.title.trim();
  const title = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  return (
    <Page
      title={title || t('numbered', { kind: t(`kind.${kind}`), ref: memory.label })}
      description={
        <span className={classes['head']}>
          <Ref reference={memory.label} />
          <KindMark kind={kind} type={text.data?.kind === 'observation' ? text.data.of.type : ''} />
          <TimeText at={memory.created_ms} />
          <TextLink to={`/ui/timeline?anchor=${encodeURIComponent(memory.label)}`}>{t('memory.onTimeline')}</TextLink>
        </span>
      }
      actions={
        <>
          <Group gap={0} role="group" aria-label={t('memory.neighbours')}>
            <Button
              variant="default"
              disabled={!newer}
              onClick={() => go(newer)}
              leftSection={<IconChevronUp size={14} />}
            >
              {t('memory.newer')}
            </Button>
            <Button
              variant="default"
              disabled={!older}
              onClick={() => go(older)}
              leftSection={<IconChevronDown size={14} />}
            >
              {t('memory.older')}
            </Button>
          </Group>
          <Button variant="default" leftSection={<IconTimeline size={14} />} onClick={() => setAsked('provenance')}>
            {t('common:provenance.open')}
          </Button>
          <Button variant="default" onClick={() => setAsked('forget')}>
            {t('forget.open')}
          </Button>
        </>
      }
    >
      {hidden && <BringBack text={t('memory.hidden')} delta={from.versions[0]?.delta} />}
      <div className={classes['columns']}>
        <div className={classes['column']}>
          {!hidden && (
            <Panel title={t('memory.says')} state={text}>
              {(whole) => <MemoryText text={whole} />}
            </Panel>
          )}
          <MemoryVersions from={from} />
        </div>
        <div className={classes['column']}>
          <MemoryAbout from={from} own={beside.data?.own} text={text.data} />
          <MemoryRelatives from={from} />
        </div>
      </div>
      <ProvenanceDrawer reference={asked === 'provenance' ? memory.label : null} onClose={() => setAsked(null)} />
      <ForgetDialog
        opened={asked === 'forget'}
        onClose={() => setAsked(null)}
        what={{ ids: [memory.seq] }}
        name={memory.label}
        onForgotten={() => {
          const next = older ?? newer;
          drop([memory.seq]);
          void navigate({ to: '/ui/timeline', search: (next ? { anchor: next.ref } : {}) as never, replace: true });
        }}
      />
    </Page>
  );
}
