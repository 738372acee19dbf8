// What one event holds. The payload is asked for when the event is chosen; its small parts are shown at once, its large
// ones with their size when somebody wants them.
import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import { durationText } from '@/parts/duration';
import { Payload } from './Payload';
import { useEvent } from '@/api/lab';
import { useTypeName } from './useTypeName';
import classes from './Trace.module.css';

type Props = { runId: string; eventId: string; onCite: (name: string) => void };

export function EventDetail({ runId, eventId, onCite }: Props) {
  const { t, i18n } = useTranslation(['lab', 'common']);
  const typeName = useTypeName();
  const query = useEvent(runId, eventId);
  return (
    <Panel
      title={query.data ? typeName(query.data.event_type) : t('trace.title')}
      state={query}
      actions={
        <>
          <code className={classes['id']}>{eventId}</code>
          <CopyButton value={eventId} label={t('common:id')} />
        </>
      }
    >
      {(event) => (
        <>
          <Group gap="md" mb="md" className={classes['meta']}>
            <code>{event.event_type}</code>
            <TimeText at={event.created_at * 1_000} exact />
            {event.duration_ms !== null && <span>{durationText(event.duration_ms, i18n.language)}</span>}
            {event.agent && <span>{event.agent}</span>}
            {event.task !== null && (
              <span>{event.parent_task === null ? t('event.ownTask') : t('event.subtask', { task: event.task })}</span>
            )}
          </Group>
          {event.payload === null ? (
            <Text size="sm" c="dimmed">
              {t('event.gone')}
            </Text>
          ) : (
            <Payload key={eventId} payload={event.payload as Record<string, unknown>} onCite={onCite} />
          )}
        </>
      )}
    </Panel>
  );
}
