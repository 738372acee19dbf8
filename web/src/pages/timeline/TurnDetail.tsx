// One turn: what was asked, how long it took, and the jobs that made memories of it.
import { Group, Stack, Table, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type en from '@/i18n/en/timeline';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { duration } from './duration';
import type { Turn } from './queries';
import { TurnName } from './SessionItemLine';
import classes from './Session.module.css';

export function TurnDetail({ turn }: { turn: Turn }) {
  const { t, i18n } = useTranslation('timeline');
  const took = turn.started_ms !== null && turn.ended_ms !== null ? turn.ended_ms - turn.started_ms : null;
  return (
    <Panel title={turn.turn ? t('sessionPage.turn', { turn: turn.turn }) : t('sessionPage.before')}>
      <Stack gap="md">
        <Group gap="sm" className={classes['facets']}>
          {turn.prompt && <Ref reference={turn.prompt.ref} />}
          {turn.started_ms !== null && <TimeText at={turn.started_ms} />}
          {took !== null && <span>{t('sessionPage.took', { time: duration(took, i18n.language) })}</span>}
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
  const { t, i18n } = useTranslation('timeline');
  const time = (ms: number | null) => (ms === null ? '–' : duration(ms, i18n.language));
  return (
    <section>
      <Title order={3} className={classes['part']}>
        {t('sessionPage.timings')}
      </Title>
      <div className={classes['scroll']} tabIndex={0} role="region" aria-label={t('sessionPage.timings')}>
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
              const author = job.by as keyof typeof en.sessionPage.by | null;
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
                  <Table.Td>{author ? t(`sessionPage.by.${author}`) : '–'}</Table.Td>
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
