// The payload of an event, part by part: plain values in a table, texts with their citations, pieces and lessons as
// links to their sources, and whatever is large behind a button that says how large it is.
import { Button } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { memo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { JsonView } from '@/parts/JsonView';
import { TextBlock } from '@/parts/TextBlock';
import { Citation, Cited } from './Cited';
import { sizeText } from './size';
import classes from './Trace.module.css';

const TOLD = new Set(['agent', 'depth', 'task_path', 'took_ms']); // stands above the payload already
const LARGE = 2_000; // characters of JSON
const FIRST = ['error', 'query', 'think', 'result', 'content', 'user_request'];
const MANY = 50; // entries of a list of sources that are shown

type Props = { payload: Record<string, unknown>; onCite: (name: string) => void };

/** Drawn once: measuring the parts of a large payload costs more than drawing them. */
export const Payload = memo(function Payload({ payload, onCite }: Props) {
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
    return <span className={classes['none']}>{t('event.nothing')}</span>;
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
      <ul className={classes['sources']}>
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
        {open ? t('event.hidePart', { name }) : t('event.showPart', { name, size: sizeText(size, i18n.language) })}
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
