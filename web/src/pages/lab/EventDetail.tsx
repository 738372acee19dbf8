// What one event holds. The payload is asked for when the event is chosen; its small parts are shown at once, its large
// ones with their size when somebody wants them.
import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { memo, type ReactNode, useState } from 'react';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import { bytesText } from '@/parts/amounts';
import { durationText } from '@/parts/amounts';
import { useEvent } from '@/api/lab';
import { localeTag } from '@/i18n';
import { JsonView } from '@/parts/JsonView';
import { TextBlock } from '@/parts/TextBlock';
import { useTypeName } from './useTypeName';
import { Citation, Cited } from './Cited';
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
          <code className={`${classes['id']} cut`}>{eventId}</code>
          <CopyButton value={eventId} label={t('common:id')} />
        </>
      }
    >
      {(event) => (
        <>
          <Group gap="md" mb="md" className={`${classes['meta']} muted size12`}>
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

const TOLD = new Set(['agent', 'depth', 'task_path', 'took_ms']); // stands above the payload already
const LARGE = 2_000; // characters of JSON
const FIRST = ['error', 'query', 'think', 'result', 'content', 'user_request'];
const MANY = 50; // entries of a list of sources that are shown

type PayloadProps = { payload: Record<string, unknown>; onCite: (name: string) => void };

/** Drawn once: measuring the parts of a large payload costs more than drawing them. */
const Payload = memo(function Payload({ payload, onCite }: PayloadProps) {
  const { t } = useTranslation('lab');
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const entries = Object.entries(payload)
    .filter(([name]) => !TOLD.has(name))
    .sort(([a], [b]) => rank(a) - rank(b));
  return (
    <>
      <dl className={classes['parts']}>
        {entries.map(([name, value]) => (
          <div key={name} className={classes['part']} data-error={name === 'error' && value ? true : undefined}>
            <dt>{name}</dt>
            <dd>
              <Part name={name} value={value} onCite={onCite} />
            </dd>
          </div>
        ))}
      </dl>
      <Folded name={t('event.json')} size={lengthOf(payload)}>
        {() => <JsonView value={payload} />}
      </Folded>
    </>
  );
});

function Part({ name, value, onCite }: { name: string; value: unknown; onCite: (name: string) => void }) {
  const { t, i18n } = useTranslation('lab');
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    return <span className="muted">{t('event.nothing')}</span>;
  }
  if (typeof value === 'boolean') return <span>{t(value ? 'event.yes' : 'event.no')}</span>;
  if (typeof value === 'number') return <span>{value.toLocaleString(localeTag(i18n.language))}</span>;
  if (typeof value === 'string') {
    if (value.length <= LARGE) return <Cited text={value} onOpen={onCite} />;
    return (
      <Folded name={name} size={value.length}>
        {() => <TextBlock text={value} copy name={`${name}.txt`} />}
      </Folded>
    );
  }
  const sources = sourcesIn(value);
  if (sources) {
    return (
      <ul className={`${classes['sources']} plain`}>
        {sources.slice(0, MANY).map(({ cite, about }, index) => (
          <li key={index}>
            <Citation name={cite} onOpen={onCite} />
            <span>{about}</span>
          </li>
        ))}
        {sources.length > MANY && <li>{t('event.entries', { count: sources.length })}</li>}
      </ul>
    );
  }
  const size = lengthOf(value);
  if (size <= LARGE) return <JsonView value={value} />;
  return (
    <Folded name={name} size={size}>
      {() => <JsonView value={value} />}
    </Folded>
  );
}

/** Shown when asked for, and not built before. */
function Folded({ name, size, children }: { name: string; size: number; children: () => ReactNode }) {
  const { t, i18n } = useTranslation('lab');
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-expanded={open}
        leftSection={open ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        onClick={() => setOpen(!open)}
      >
        {open ? t('event.hidePart', { name }) : t('event.showPart', { name, size: bytesText(size, i18n.language) })}
      </Button>
      {open && <div className={classes['opened']}>{children()}</div>}
    </>
  );
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

type Source = { cite: string; about: string };

/** Pieces and lessons that an event names, in the order in which it names them; null where it does something else. */
function sourcesIn(value: unknown): Source[] | null {
  if (!Array.isArray(value)) return null;
  const found = value.map(sourceOf);
  return found.every((each) => each !== null) ? found : null;
}

function sourceOf(value: unknown): Source | null {
  if (typeof value !== 'object' || value === null) return null;
  const { alias, mem_id: memId, source, role, kb_namespace: space } = value as Record<string, unknown>;
  if (typeof alias === 'string') return { cite: alias, about: [source, space].filter(Boolean).join(' · ') };
  if (typeof memId === 'string') return { cite: `mem:${memId}`, about: typeof role === 'string' ? role : '' };
  return null;
}
