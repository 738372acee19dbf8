// What an agent will be told next, to the letter: line by line, with what each costs, why it stands there and what may
// be done about it. With words of a prompt, what that prompt would bring.
import { ActionIcon, Badge, Button, Text, TextInput } from '@mantine/core';
import { IconCheck, IconCopy, IconMessageQuestion, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { text, useSearchState } from '@/app/searchState';
import { copyText } from '@/parts/CopyButton';
import { INSTALL } from '@/parts/commands';
import { Empty, Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { useTyped } from '@/parts/useTyped';
import { useOriginName } from '@/parts/acts/LifeMarks';
import { pageOf } from '@/parts/reference';
import { plainLine } from '@/parts/snippet';
import { TextLink } from '@/parts/TextLink';
import { localeTag } from '@/i18n';
import classes from './Brief.module.css';
import { fullPart, hasLimit } from './limits';
import { type ContextLine, type NextContext as ContextPreview, nextContextQuery, type NotTold } from './queries';
import { LineActs } from './LineActs';

const SCHEMA = { ask: text(), why: text() };
const SHORTEST = 8; // characters of a prompt that anything is told for
const COPIED_MS = 1_500;

export function NextContext({ project }: { project: string }) {
  const { t } = useTranslation(['next', 'common']);
  const [{ ask, why }, set] = useSearchState(SCHEMA);
  const query = useQuery(nextContextQuery(project, ask.trim()));
  const explain = useCallback((reference: string) => set({ why: reference }), [set]);
  const close = useCallback(() => set({ why: '' }, { replace: true }), [set]);
  return (
    <Panel
      title={t('panel')}
      state={query}
      actions={query.data?.text ? <CopyText value={query.data.text} /> : null}
      flush
    >
      {(told) => (
        <>
          <Asking value={ask} onChange={(words) => set({ ask: words }, { replace: true })} />
          <div
            className={`${classes['told']} padded`}
            aria-live="polite"
            aria-busy={query.isPlaceholderData || undefined}
          >
            {told.sections.every(({ name }) => name === 'about') && <Nothing prompt={told.prompt} />}
            {told.text && (
              <>
                {told.prompt && (
                  <Text size="sm" c="dimmed" className={classes['note']}>
                    {t('askNote')}
                  </Text>
                )}
                <TokenBar told={told} />
                <ContextLines lines={told.lines} sections={told.sections} onExplain={explain} />
              </>
            )}
          </div>
          <Below told={told} onExplain={explain} />
          <ProvenanceDrawer reference={why || null} onClose={close} />
        </>
      )}
    </Panel>
  );
}

function Asking({ value, onChange }: { value: string; onChange: (words: string) => void }) {
  const { t } = useTranslation('next');
  const [typed, setTyped] = useTyped(value, onChange);
  return (
    <form
      className={classes['ask']}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed);
      }}
    >
      <TextInput
        label={t('ask')}
        placeholder={t('askHint')}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        leftSection={<IconMessageQuestion size={16} aria-hidden />}
        rightSection={
          typed && (
            <ActionIcon size={24} aria-label={t('askClear')} title={t('askClear')} onClick={() => setTyped('')}>
              <IconX size={14} />
            </ActionIcon>
          )
        }
        maxLength={4000}
      />
    </form>
  );
}

function Nothing({ prompt }: { prompt: string }) {
  const { t } = useTranslation('next');
  if (!prompt) return <Empty title={t('empty.title')} why={t('empty.why')} command={INSTALL} />;
  return <Empty title={t('nothing.title')} why={t(prompt.length < SHORTEST ? 'nothing.short' : 'nothing.why')} />;
}

function CopyText({ value }: { value: string }) {
  const { t } = useTranslation(['next', 'common']);
  const [copied, setCopied] = useState(false);
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
      aria-live="polite"
      onClick={() => {
        void copyText(value).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), COPIED_MS);
        });
      }}
    >
      {copied ? t('common:copied') : t('copy')}
    </Button>
  );
}

type Props = { told: ContextPreview; onExplain: (reference: string) => void };

/** What was just not told, and why; folded, because most of the time it is right so. */
function Below({ told, onExplain }: Props) {
  const { t, i18n } = useTranslation('next');
  const originName = useOriginName();
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const memories = told.below;
  function reason(memory: NotTold): string {
    if (memory.why !== 'no_room') return t(`notTold.${memory.why}`);
    const { section, used, limit } = fullPart(memory, told);
    const name = section ? t(`section.${section}`) : '';
    if (limit === null) return t('fullSection', { section: name });
    const numbers = { used: write(used), limit: write(limit) };
    return section ? t('noRoomIn', { section: name, ...numbers }) : t('notTold.no_room', numbers);
  }
  if (!memories.length) return null;
  return (
    <details className={classes['below']}>
      <summary>{t('below', { count: memories.length })}</summary>
      <ul className="plain">
        {memories.map((memory) => {
          const page = pageOf(memory.ref);
          const title = plainLine(memory.title) || memory.ref;
          return (
            <li key={memory.seq} className={classes['line']} data-seq={memory.seq}>
              <span className={classes['words']}>{page ? <TextLink to={page}>{title}</TextLink> : title}</span>
              <span className={classes['facts']}>
                {reason(memory)} · {originName(memory.origin)}
              </span>
              <LineActs memory={memory} onExplain={onExplain} />
            </li>
          );
        })}
      </ul>
    </details>
  );
}

type ContextLinesProps = {
  lines: readonly ContextLine[];
  sections: ContextPreview['sections'];
  onExplain: (ref: string) => void;
};
type Group = { heading: ContextLine | null; lines: ContextLine[] };

/** Lines under their headings; what is around the sections stands alone. */
function grouped(lines: readonly ContextLine[]): Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (line.reason === 'heading') groups.push({ heading: line, lines: [] });
    else if (line.section && last?.heading?.section === line.section) last.lines.push(line);
    else groups.push({ heading: null, lines: [line] });
  }
  return groups;
}

/** The text itself, in its own order and words, by section. All lines joined are what the agent gets. */
function ContextLines({ lines, sections, onExplain }: ContextLinesProps) {
  const { t, i18n } = useTranslation('next');
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));
  return (
    <div className={classes['text']}>
      {grouped(lines).map(({ heading, lines: own }, place) => {
        const name = heading?.section;
        const spent = sections.find((section) => section.name === name);
        if (!heading || !name) {
          return own.map((line) => (
            <p key={`${place}-${line.reason}`} className={classes['frame']} data-line>
              {line.text}
            </p>
          ));
        }
        return (
          <section key={place} aria-labelledby={`told-${name}`} data-section={name}>
            <div className={classes['heading']}>
              <h3 id={`told-${name}`}>{t(`section.${name}`)}</h3>
              <span className={classes['raw']} data-line>
                {heading.text}
              </span>
              {spent && (
                <span className="muted size12 aside">
                  {hasLimit(name)
                    ? t('tokens', { used: write(spent.tokens), limit: write(spent.budget) })
                    : t('count', { count: spent.tokens, number: write(spent.tokens) })}
                </span>
              )}
            </div>
            <ul className="plain">
              {own.map((line, at) => (
                <Line
                  key={at}
                  line={line}
                  tokens={write(line.tokens)}
                  onExplain={onExplain}
                  goesOn={line.memory !== null && own[at - 1]?.memory?.seq === line.memory.seq}
                />
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

type LineProps = {
  line: ContextLine;
  tokens: string;
  onExplain: (ref: string) => void;
  /** The line before tells the same memory, and offers what can be done with it. */
  goesOn: boolean;
};

function Line({ line: { text, memory, tokens: count }, tokens, onExplain, goesOn }: LineProps) {
  const { t } = useTranslation(['next', 'common']);
  const originName = useOriginName();
  const stale = memory?.stale && memory.stale !== 'unchanged' && memory.stale !== 'unknown' ? memory.stale : null;
  return (
    <li className={classes['line']} data-seq={memory?.seq}>
      <span className={classes['words']} data-line>
        {text}
      </span>
      <span className={classes['facts']}>
        {memory && !goesOn && (
          <Badge variant="default" size="sm" className={classes['chip'] ?? ''}>
            {t('common:peek.by', { who: originName(memory.origin) })}
          </Badge>
        )}
        {stale && (
          <Badge color="yellow" variant="light" size="sm">
            {t(`stale.${stale}`)}
          </Badge>
        )}
        <span className={classes['cost']} title={t('count', { count, number: tokens })}>
          {t('short', { number: tokens })}
        </span>
      </span>
      {memory && !goesOn ? <LineActs memory={memory} onExplain={onExplain} /> : <span className={classes['acts']} />}
    </li>
  );
}

const COLOURS = 6;

/** How the tokens are spent: sections in proportion of what may be used, with the same in words below. */
function TokenBar({ told }: { told: ContextPreview }) {
  const { t, i18n } = useTranslation('next');
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const inSections = told.sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const parts = [
    ...told.sections.map(({ name, tokens, budget }) => ({
      name: t(`section.${name}`),
      tokens,
      limit: hasLimit(name) ? budget : null,
    })),
    { name: t('section.frame'), tokens: Math.max(0, told.tokens - inSections), limit: null },
  ];
  const whole = Math.max(told.budget, told.tokens);
  return (
    <figure className={classes['budget']}>
      <figcaption>{t('tokens', { used: write(told.tokens), limit: write(told.budget) })}</figcaption>
      <div className={classes['bar']} aria-hidden>
        {parts.map(({ name, tokens }, place) => (
          <span
            key={name}
            data-tone={place < COLOURS ? 'plain' : 'hatched'}
            title={`${name}: ${write(tokens)}`}
            style={{ width: `${(tokens / whole) * 100}%`, backgroundColor: `var(--cm-chart-${(place % COLOURS) + 1})` }}
          />
        ))}
      </div>
      <ul className={classes['legend']}>
        {parts.map(({ name, tokens, limit }, place) => (
          <li key={name}>
            <span
              data-tone={place < COLOURS ? 'plain' : 'hatched'}
              style={{ backgroundColor: `var(--cm-chart-${(place % COLOURS) + 1})` }}
              aria-hidden
            />
            {name} <b>{write(tokens)}</b>
            {limit !== null && ` / ${write(limit)}`}
          </li>
        ))}
      </ul>
    </figure>
  );
}
