// Where a memory comes from, what came of it, and what it is connected with.
import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Kind, livingOf, type WholeMemory } from '@/api/life';
import { listOf } from '@/parts/MemoryText';
import { Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { PageLink, Ref } from '@/parts/Ref';
import { KindMark } from '@/parts/KindMark';
import { pageOf } from '@/parts/reference';
import { TextLink } from '@/parts/TextLink';
import { Origin, Relatives } from './Origin';
import type { Provenance, Relative } from './queries';
import classes from './Memory.module.css';
import { plainLine } from '@/parts/snippet';
import lines from './Lineage.module.css';

export function LineageTab({ memory, from }: { memory: WholeMemory; from: Provenance | undefined }) {
  const [explained, setExplained] = useState<string | null>(null);
  if (!from) return null;
  return (
    <div className={classes['halves']}>
      <Origin told={from} onExplain={setExplained} />
      <div className={`${classes['column']} column`}>
        <CameOf told={from} mentions={listOf(memory.attrs['mentions'])} onExplain={setExplained} />
      </div>
      <ProvenanceDrawer reference={explained} onClose={() => setExplained(null)} />
    </div>
  );
}

type Props = { told: Provenance; mentions?: readonly string[]; onExplain: (label: string) => void };

const isPrompt = ({ memory }: Provenance) => memory.kind === 'prompt';

/** A prompt leads to what its turn brought; what shares its events with another memory stands beside it. */
const outcomes = (told: Provenance) => [...(isPrompt(told) ? told.derived : []), ...told.linked_by];

/**
 * What was made of it, what came with it, what points to it, and what it points to; an address that names nothing yet
 * can be written.
 */
export function CameOf({ told, mentions = [], onExplain }: Props) {
  const { t } = useTranslation('memory');
  const written = new Set(told.links.map(({ label }) => label.replace(/^note /, '')));
  const more = told.more_derived && (
    <Text size="xs" c="dimmed" p="sm">
      {t('why.moreDerived')}
    </Text>
  );
  const unwritten = mentions.filter((uri) => !written.has(uri) && !told.memory.uris.includes(uri));
  return (
    <>
      <Panel title={t('why.cameOf')} flush>
        <Relatives relatives={outcomes(told)} none={t('why.nothingCame')} onExplain={onExplain} />
        {isPrompt(told) && more}
      </Panel>
      {!isPrompt(told) && told.derived.length > 0 && (
        <Panel title={t('why.sameEvents')} flush>
          <Relatives relatives={told.derived} none="" onExplain={onExplain} />
          {more}
        </Panel>
      )}
      {(told.links.length > 0 || unwritten.length > 0) && (
        <Panel title={t('why.pointsTo')} flush>
          {told.links.length > 0 && <Relatives relatives={told.links} none="" onExplain={onExplain} />}
          <ul className="plain">
            {unwritten.map((uri) => (
              <li key={uri} className={lines['item']}>
                <span className={`${lines['relative']} column`}>
                  <Ref reference={uri} copy={false} />
                </span>
                <PageLink to={`/ui/notes?new=${encodeURIComponent(uri)}`}>{t('why.write')}</PageLink>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

type Step = { key: string; to: string | null; text: string; kind?: Kind };

/**
 * The way of a memory in one line: what it came from, the memory itself, what came of it, and how many were told it.
 */
export function LineageStrip({ memory, from }: { memory: WholeMemory; from: Provenance | undefined }) {
  const { t } = useTranslation(['memory', 'timeline']);
  const own = pageOf(livingOf(memory).ref) ?? '';
  const here = (tab: string) => `${own}?tab=${tab}`;
  const before = from ? origins(from) : [];
  const after = from ? grouped(outcomes(from)) : [];
  const steps: Step[] = [
    ...before,
    { key: 'self', to: null, text: t(`timeline:kind.${memory.kind}`), kind: memory.kind },
    ...after,
    ...(from
      ? [
          {
            key: 'told',
            to: here('told'),
            text: t('strip.told', { count: from.told_to.length, context: toldAs(from) }),
          },
        ]
      : []),
  ];
  return (
    <ol className={`${classes['strip']} plain`} aria-label={t('strip.label')}>
      {steps.map(({ key, to, text, kind }) => (
        <li key={key} aria-current={key === 'self' || undefined} className={classes['step']}>
          {kind && <KindMark kind={kind} bare />}
          {to ? <TextLink to={to}>{text}</TextLink> : <span>{text}</span>}
        </li>
      ))}
    </ol>
  );

  function origins({ prompt, events, run, session, memory: { imported } }: Provenance): Step[] {
    const first = events[0];
    const place = session?.id === undefined || session.id === null ? null : `/ui/sessions/${session.id}`;
    const found: Step[] = [];
    if (prompt && prompt.seq !== memory.seq) found.push(step(prompt));
    if (first) {
      const to = place && `${place}?sel=e${first.seq}`;
      found.push({ key: 'events', to, text: t('strip.events', { count: events.length }) });
    } else if (run) {
      found.push({ key: 'run', to: `/ui/runs/${encodeURIComponent(run)}`, text: t('strip.run') });
    } else if (place && !prompt) {
      found.push({ key: 'session', to: place, text: t('fact.sessionOf', { number: session?.id }) });
    } else if (imported) found.push({ key: 'import', to: here('lineage'), text: t('strip.import') });
    return found;
  }

  function grouped(relatives: readonly Relative[]): Step[] {
    const groups = new Map<string, Relative[]>();
    for (const each of relatives) {
      if (each.status !== 'deleted') groups.set(each.kind, [...(groups.get(each.kind) ?? []), each]);
    }
    return [...groups.values()].map((group) => {
      const [first] = group as [Relative];
      if (group.length === 1) return step(first);
      const text = t('strip.many', { kind: t(`timeline:kind.${first.kind as Kind}`), count: group.length });
      return { key: `many ${first.kind}`, to: here('lineage'), text, kind: first.kind as Kind };
    });
  }

  function step({ label, kind, title }: Relative): Step {
    const line = plainLine(title);
    const short = line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
    return { key: label, to: pageOf(label), text: short || label, kind: kind as Kind };
  }
}

const SHOWN = 32; // characters of a title

function toldAs({ more_told: more }: Provenance) {
  return more ? 'more' : undefined;
}
