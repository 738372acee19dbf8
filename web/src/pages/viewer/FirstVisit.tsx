// An empty store: steps with commands to copy, what agents have kept so far, and a mark as soon as an event arrives.
import { Button, Group, Text, Title } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLiveEvents } from '@/live/useLive';
import type { components } from '@/api/schema';
import { localeTag } from '@/i18n';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { FIRST_EVENT, INSTALL } from '@/parts/commands';
import classes from './FirstVisit.module.css';
import { useKept } from './queries';

type Transcripts = components['schemas']['KeptTranscripts'];

type Props = {
  /** Something is stored by now. */
  arrived: boolean;
  onDone: () => void;
};

export function FirstVisit({ arrived, onDone }: Props) {
  const { t } = useTranslation('viewer');
  const [told, setTold] = useState(false);
  useLiveEvents((event) => event.id && setTold(true));
  const done = told || arrived;
  const kept = useKept().data?.transcripts;
  return (
    <Panel title={t('first.title')}>
      <Text size="sm" c="dimmed" mb="lg">
        {t('first.why')}
      </Text>
      <ol className={classes['steps']}>
        <Step done title={t('first.check')} why={t('first.checkWhy')}>
          <CommandLine command="codexmem doctor" />
        </Step>
        <Step done={done} title={t('first.connect')} why={t('first.connectWhy')}>
          <CommandLine command={INSTALL} />
        </Step>
        <Step done={kept?.length === 0} title={t('first.bring')} why={t('first.bringWhy')}>
          {kept && <Kept transcripts={kept} />}
          <CommandLine command="codexmem import transcripts" />
          <Text size="sm" c="dimmed">
            {t('first.import')}
          </Text>
          <CommandLine command="codexmem import claude-mem ~/.claude-mem/claude-mem.db" />
        </Step>
        <Step done title={t('first.writer')} why={t('first.writerWhy')}>
          <CommandLine command="codexmem writer" />
        </Step>
        <Step done={done} title={t('first.try')} why={t('first.tryWhy')}>
          <CommandLine command={FIRST_EVENT} />
        </Step>
      </ol>
      <Group justify="flex-end" mt="lg" gap="lg">
        <Text size="sm" role="status">
          {done ? t('first.arrived') : ''}
        </Text>
        <Button variant={done ? 'filled' : 'default'} onClick={onDone}>
          {t('first.go')}
        </Button>
      </Group>
    </Panel>
  );
}

/** What was there before us. */
function Kept({ transcripts }: { transcripts: Transcripts[] }) {
  const { t, i18n } = useTranslation('viewer');
  const day = new Intl.DateTimeFormat(localeTag(i18n.language), { dateStyle: 'medium' });
  return (
    <ul>
      {transcripts.map(({ program, sessions: count, first_ms, last_ms }) => (
        <li key={program}>
          {t('first.kept', { program, count, first: day.format(first_ms), last: day.format(last_ms) })}
        </li>
      ))}
    </ul>
  );
}

function Step({ done, title, why, children }: { done: boolean; title: string; why: string; children: ReactNode }) {
  const { t } = useTranslation('viewer');
  return (
    <li className={classes['step']} data-done={done || undefined}>
      {done ? <IconCircleCheckFilled size={22} aria-hidden /> : <IconCircleDashed size={22} aria-hidden />}
      <div>
        <Title order={3}>
          {title}
          <span className={classes['mark']}>{done ? t('first.done') : t('first.waiting')}</span>
        </Title>
        <Text size="sm" c="dimmed">
          {why}
        </Text>
        <div className={classes['what']}>{children}</div>
      </div>
    </li>
  );
}
