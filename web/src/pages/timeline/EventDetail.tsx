// One captured event; what it said is asked for only when somebody looks at it.
import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { JsonView } from '@/parts/JsonView';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { wholeEvent, type SessionEvent } from './queries';
import classes from './Session.module.css';

export function EventDetail({ session, event }: { session: number; event: SessionEvent }) {
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
