// An empty store: which agents are on this machine, what connects them and brings in what they kept, and the first
// memories as they arrive.
import { Button, Group, Skeleton, Text, Title } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import { useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { localeTag } from '@/i18n';
import { useLiveEvents } from '@/live/useLive';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { FIRST_EVENT, INSTALL } from '@/parts/commands';
import classes from './FirstVisit.module.css';
import { NewestList } from './Newest';
import { useKept, useNewest } from './queries';

const GATHER_MS = 400;

/** Stays until `onDone`, so that what has arrived can be looked at. */
export function FirstVisit({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('viewer');
  const newest = useNewest('', false);
  const looked = useKept();
  const { refetch } = newest;
  const { refetch: lookAgain } = looked;
  const soon = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLiveEvents(({ id }) => {
    if (!id) return;
    clearTimeout(soon.current);
    // An agent that was connected meanwhile is one of those that write.
    soon.current = setTimeout(() => void Promise.all([refetch(), lookAgain()]), GATHER_MS);
  });
  // Without an answer the steps are those for a machine where nothing was found.
  const found = looked.data;
  const items = newest.data?.items ?? [];
  const done = items.length > 0;
  const missing = found?.agents.filter(({ connected }) => !connected) ?? [];
  const names = missing.map(({ name }) => name).join(' ');
  return (
    <Panel title={t('first.title')} {...(looked.isPending ? { state: looked } : {})} skeleton={<Skeleton h={480} />}>
      <Text size="sm" c="dimmed" mb="lg">
        {t(done ? 'first.whyDone' : 'first.why')}
      </Text>
      <ol className={`${classes['steps']} plain`}>
        <Step
          done={Boolean(found?.agents.length && !missing.length)}
          title={t('first.connect')}
          why={found?.agents.length ? t('first.connectWhy') : t('first.connectNone')}
        >
          {found && <Agents agents={found.agents} />}
          {names ? <CommandLine command={`codexmem install ${names}`} /> : <CommandLine command={INSTALL} />}
        </Step>
        {found && (found.transcripts.length > 0 || found.claude_mem) && (
          <Step done={false} title={t('first.bring')} why={found.transcripts.length ? t('first.bringWhy') : ''}>
            {found.transcripts.length > 0 && (
              <>
                <Kept transcripts={found.transcripts} />
                <CommandLine command="codexmem import transcripts" />
              </>
            )}
            {found.claude_mem && (
              <>
                <Text size="sm">{t('first.claudeMem', { path: found.claude_mem })}</Text>
                <CommandLine command="codexmem import claude-mem ~/.claude-mem/claude-mem.db" />
              </>
            )}
          </Step>
        )}
        <Step done={done} title={t('first.try')} why={t('first.tryWhy')}>
          <CommandLine command={FIRST_EVENT} />
        </Step>
        <Step done title={t('first.writer')} why={t('first.writerWhy')}>
          <CommandLine command="codexmem writer" />
        </Step>
      </ol>
      <div role="status" className={classes['arrived']} data-done={done || undefined}>
        <Text fw={600} size="sm">
          {done ? t('first.arrived') : t('first.listening')}
        </Text>
        {done && <NewestList items={items} />}
      </div>
      <Group justify="flex-end" mt="lg">
        <Button variant={done ? 'filled' : 'default'} onClick={onDone}>
          {t('first.go')}
        </Button>
      </Group>
    </Panel>
  );
}

function Agents({ agents }: { agents: Schemas['AgentOnMachine'][] }) {
  const { t } = useTranslation('viewer');
  return (
    <ul className={classes['found']} aria-label={t('first.agents')}>
      {agents.map(({ name, title, connected }) => (
        <li key={name}>
          {title} <span className={classes['mark']}>{connected ? t('first.connected') : t('first.notConnected')}</span>
        </li>
      ))}
    </ul>
  );
}

/** What was there before us. */
function Kept({ transcripts }: { transcripts: Schemas['KeptTranscripts'][] }) {
  const { t, i18n } = useTranslation('viewer');
  const day = new Intl.DateTimeFormat(localeTag(i18n.language), { dateStyle: 'medium' });
  return (
    <ul className={classes['found']}>
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
