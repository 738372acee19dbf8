// The chosen line of a session in full.
import { useTranslation } from 'react-i18next';
import { Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useActorName } from '@/parts/acts/LifeMarks';
import { Empty, Panel } from '@/parts/Panel';
import { JsonView } from '@/parts/JsonView';
import { Ref } from '@/parts/Ref';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { KindMark } from '@/parts/KindMark';
import { TextLink } from '@/parts/TextLink';
import { memoryQuery } from '@/api/life';
import { MemoryText } from '@/parts/MemoryText';
import type en from '@/i18n/en/timeline';
import { StatusMark } from '@/parts/StatusMark';
import { type Injection, type SessionEvent, type SessionMemory, type Turn, wholeEvent } from './queries';
import { type SessionItem, toolCounts } from './sessionItems';
import { durationText } from '@/parts/amounts';
import { TurnName } from './SessionItemLine';
import classes from './Session.module.css';

type Props = { session: number; item: SessionItem | null; onToggle: (turn: Turn) => void };

export function SessionDetail({ session, item, onToggle }: Props) {
  const { t } = useTranslation('timeline');
  switch (item?.kind) {
    case 'turn':
      return <TurnDetail turn={item.turn} />;
    case 'injected':
      return <InjectedDetail injection={item.injection} />;
    case 'events':
      return <EventsDetail turn={item.turn} open={item.open} onToggle={onToggle} />;
    case 'event':
      return <EventDetail key={item.key} session={session} event={item.event} />;
    case 'memory':
      return <MemoryDetail key={item.key} memory={item.memory} />;
    default:
      return (
        <Panel label={t('sessionPage.detail')}>
          <Empty title={t('sessionPage.choose')} why={t('sessionPage.chooseHow')} />
        </Panel>
      );
  }
}

/** One captured event; what it said is asked for only when somebody looks at it. */
function EventDetail({ session, event }: { session: number; event: SessionEvent }) {
  const { t } = useTranslation('timeline');
  const query = useQuery({
    queryKey: ['timeline', 'event', session, event.seq],
    queryFn: ({ signal }) => wholeEvent(session, event.seq, signal),
    staleTime: Infinity,
  });
  return (
    <Panel title={event.kind === 'stop' ? t('sessionPage.stop') : event.tool} state={query}>
      {(whole) => (
        <Stack gap="md">
          <Group gap="sm" className={classes['facets']}>
            <TimeText at={whole.at_ms} />
            {whole.agent && <span>{t('sessionPage.subAgent', { name: whole.agent })}</span>}
            {whole.cwd && <code>{whole.cwd}</code>}
          </Group>
          {!whole.kept && <Text c="dimmed">{t('sessionPage.faded')}</Text>}
          <Said title={t('sessionPage.input')} value={whole.input} />
          <Said title={t('sessionPage.response')} value={whole.response} />
          <Said title={t('sessionPage.message')} value={whole.message} />
          <section>
            <Title order={3} className={classes['part']}>
              {t('sessionPage.became')}
            </Title>
            {event.observations.length ? (
              <Group gap="sm">
                {event.observations.map((seq) => (
                  <Ref key={seq} reference={`#${seq}`} />
                ))}
              </Group>
            ) : (
              <Text size="sm" c="dimmed">
                {t('sessionPage.becameNothing')}
              </Text>
            )}
          </section>
        </Stack>
      )}
    </Panel>
  );
}

function Said({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined || value === '') return null;
  return (
    <section>
      <Title order={3} className={classes['part']}>
        {title}
      </Title>
      {typeof value === 'string' ? <TextBlock text={value} mono copy /> : <JsonView value={value} />}
    </section>
  );
}

/** The tool events of a turn together: how often each tool was used. */
function EventsDetail({ turn, open, onToggle }: { turn: Turn; open: boolean; onToggle: (turn: Turn) => void }) {
  const { t } = useTranslation('timeline');
  const count = turn.events.filter((event) => event.kind === 'tool').length;
  const name = open
    ? t('sessionPage.eventsHide', { turn: turn.turn })
    : t('sessionPage.eventsShow', { turn: turn.turn });
  return (
    <Panel
      title={t('sessionPage.events', { count })}
      actions={
        <Button variant="default" onClick={() => onToggle(turn)}>
          {name}
        </Button>
      }
    >
      <ul className={classes['tools']}>
        {toolCounts(turn.events).map(([tool, times]) => (
          <li key={tool}>{t('sessionPage.tool', { tool, count: times })}</li>
        ))}
      </ul>
    </Panel>
  );
}

/** What the agent was handed at one time, as far as it is still there. */
function InjectedDetail({ injection }: { injection: Injection }) {
  const { t } = useTranslation('timeline');
  const { start, count, memories, tokens, at_ms: at } = injection;
  return (
    <Panel title={start ? t('sessionPage.injectedStart', { count }) : t('sessionPage.injectedPrompt', { count })}>
      <Stack gap="md">
        <Group gap="sm" className={classes['facets']}>
          <TimeText at={at} />
          <span>{t('sessionPage.tokens', { count: tokens })}</span>
        </Group>
        <ul className={classes['memories']}>
          {memories.map((memory) => (
            <li key={memory.seq}>
              <KindMark kind={memory.kind} bare />
              <TextLink to={`/ui/memories/${memory.seq}`}>{memory.title || memory.ref}</TextLink>
              <Text span size="xs" c="dimmed">
                {memory.whole ? t('sessionPage.whole') : t('sessionPage.line')}
              </Text>
            </li>
          ))}
        </ul>
        {memories.length < count && (
          <Text size="xs" c="dimmed">
            {t('sessionPage.shownOf', { shown: memories.length, count })}
          </Text>
        )}
      </Stack>
    </Panel>
  );
}

/** What came of a turn: one observation or summary. */
function MemoryDetail({ memory }: { memory: SessionMemory }) {
  const { t } = useTranslation('timeline');
  const query = useQuery(memoryQuery(memory.ref));
  return (
    <Panel title={memory.title || t('list.noTitle')} state={query}>
      {(whole) => (
        <>
          <Group gap="sm" className={classes['facets']}>
            <Ref reference={memory.ref} />
            <KindMark kind={memory.kind} type={memory.type} />
            {memory.hidden ? <span>{t('sessionPage.hiddenMark')}</span> : <TimeText at={memory.created_ms} />}
          </Group>
          <MemoryText memory={whole} />
        </>
      )}
    </Panel>
  );
}

/** One turn: what was asked, how long it took, and the jobs that made memories of it. */
function TurnDetail({ turn }: { turn: Turn }) {
  const { t, i18n } = useTranslation('timeline');
  const took = turn.started_ms !== null && turn.ended_ms !== null ? turn.ended_ms - turn.started_ms : null;
  return (
    <Panel title={turn.turn ? t('sessionPage.turn', { turn: turn.turn }) : t('sessionPage.before')}>
      <Stack gap="md">
        <Group gap="sm" className={classes['facets']}>
          {turn.prompt && <Ref reference={turn.prompt.ref} />}
          {turn.started_ms !== null && <TimeText at={turn.started_ms} />}
          {took !== null && <span>{t('sessionPage.took', { time: durationText(took, i18n.language) })}</span>}
        </Group>
        {turn.prompt?.text ? (
          <TextBlock text={turn.prompt.text} copy />
        ) : (
          <Text c="dimmed">
            <TurnName turn={turn} />
          </Text>
        )}
        {turn.jobs.length > 0 && <Jobs turn={turn} />}
      </Stack>
    </Panel>
  );
}

function Jobs({ turn }: { turn: Turn }) {
  const actorName = useActorName();
  const { t, i18n } = useTranslation('timeline');
  const time = (ms: number | null) => (ms === null ? '–' : durationText(ms, i18n.language));
  return (
    <section>
      <Title order={3} className={classes['part']}>
        {t('sessionPage.timings')}
      </Title>
      <div className={`${classes['scroll']} scrollsX`} tabIndex={0} role="region" aria-label={t('sessionPage.timings')}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('sessionPage.job')}</Table.Th>
              <Table.Th>{t('sessionPage.status')}</Table.Th>
              <Table.Th>{t('sessionPage.jobBy')}</Table.Th>
              <Table.Th>{t('sessionPage.wait')}</Table.Th>
              <Table.Th>{t('sessionPage.work')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {turn.jobs.map((job) => {
              const kind = job.kind.split('.').at(-1) as keyof typeof en.sessionPage.jobKinds;
              return (
                <Table.Tr key={job.job}>
                  <Table.Td>{t(`sessionPage.jobKinds.${kind}`)}</Table.Td>
                  <Table.Td>
                    <StatusMark status={job.status} />
                    {job.error && (
                      <Text size="xs" c="dimmed">
                        {job.error}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>{job.by ? actorName(job.by) : '–'}</Table.Td>
                  <Table.Td>{time(job.wait_ms)}</Table.Td>
                  <Table.Td>{time(job.work_ms)}</Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </div>
    </section>
  );
}
