// One search: what limited it, where its time went, and why each result stands where it does.
import { Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { TextBlock } from '@/parts/TextBlock';
import { exactTime, TimeText } from '@/parts/TimeText';
import { Bar, Legend, type Part } from './Bar';
import { durationText } from '@/parts/amounts';
import { listed } from './figures';
import { useKindName } from './kinds';
import { useNote } from '@/parts/searchNote';
import { useTrace, type TraceDetail as Detail } from './queries';
import { RankedResults } from './RankedResults';
import { ModeBadge } from './TraceRow';
import classes from './TraceDetail.module.css';

export function TraceDetail({ id }: { id: number }) {
  const { t } = useTranslation('viewer');
  const trace = useTrace(id);
  return (
    <Panel title={t('traces.detail')} state={trace}>
      {(detail) => (
        <Stack gap="lg">
          <About {...detail} />
          <Notes {...detail} />
          <Ranking {...detail} />
          <Spent {...detail} />
          <Sources {...detail} />
        </Stack>
      )}
    </Panel>
  );
}

function About({ query, mode, results, recipe, project, kinds, unit, asOfEpoch, atEpoch, durationMs }: Detail) {
  const { t, i18n } = useTranslation('viewer');
  const { clock } = usePreferences();
  const nameOf = useKindName();
  return (
    <div>
      <div className={classes['query']}>
        <TextBlock text={query || t('traces.blank')} />
        <CopyButton value={query} label={t('traces.asked')} />
      </div>
      <Group gap="sm" className={classes['about'] ?? ''}>
        <ModeBadge mode={mode} />
        <span>{t('traces.hits', { count: results })}</span>
        <span>{durationText(durationMs, i18n.language)}</span>
        <TimeText at={atEpoch} />
        {project && <span>{project}</span>}
        <span>{t('traces.kinds', { kinds: listed(kinds.map(nameOf), i18n.language) })}</span>
        {recipe !== 'default' && <span>{t('traces.recipe', { name: recipe })}</span>}
        {unit === 'session' && <span>{t('traces.bySession')}</span>}
        {asOfEpoch !== null && <span>{t('traces.asOf', { time: exactTime(asOfEpoch, i18n.language, clock) })}</span>}
      </Group>
    </div>
  );
}

function Notes({ notes }: Detail) {
  const { t } = useTranslation('viewer');
  const say = useNote();
  if (!notes.length) return null;
  return (
    <div className={classes['notes']} role="note" aria-label={t('traces.notes.title')}>
      <IconAlertTriangle size={16} aria-hidden />
      <ul>
        {notes.map((note) => (
          <li key={note}>{say(note)}</li>
        ))}
      </ul>
    </div>
  );
}

function Ranking({ explained, ranked, results, offset }: Detail) {
  const { t } = useTranslation('viewer');
  const further = results - ranked.length;
  return (
    <section aria-label={t('traces.ranked')}>
      <h3 className={classes['heading']}>{t('traces.ranked')}</h3>
      {ranked.length ? (
        <RankedResults ranked={ranked} />
      ) : (
        <Text size="sm" c="dimmed">
          {results || explained ? t('traces.notExplained') : t('traces.nothing')}
        </Text>
      )}
      {ranked.length > 0 && further > 0 && offset === 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {t('traces.more', { count: further })}
        </Text>
      )}
    </section>
  );
}

const STEPS = ['query', 'embed', 'lexical', 'vectors', 'candidates', 'rank', 'rerank', 'rows'] as const;
const TONES: readonly Part['tone'][] = [5, 4, 1, 3, 2, 1, 4, 3];

function Spent({ timings, durationMs }: Detail) {
  const { t, i18n } = useTranslation('viewer');
  const known = STEPS.map((name, at) => ({ name, value: timings[name] ?? 0, tone: TONES[at] ?? 6 }));
  const named: readonly string[] = [...STEPS, 'total'];
  const others = Object.entries(timings).filter(([name]) => !named.includes(name));
  const rest = durationMs - known.reduce((sum, { value }) => sum + value, 0);
  const parts = [...known, { name: 'other' as const, value: Math.max(0, rest), tone: 6 as const }].filter(
    ({ value }) => value > 0.05,
  );
  const said = parts.map(({ name, value }) =>
    t('traces.step', { name: t(`traces.steps.${name}`), ms: durationText(value, i18n.language) }),
  );
  return (
    <section aria-label={t('traces.time')}>
      <h3 className={classes['heading']}>{t('traces.time')}</h3>
      <Bar parts={parts} label={listed(said, i18n.language)} tall />
      <div className={classes['below']}>
        <Legend
          parts={parts.map(({ name, value, tone }) => ({
            name,
            tone,
            label: t(`traces.steps.${name}`),
            detail: durationText(value, i18n.language),
          }))}
        />
        {others.map(([name, value]) => (
          <Text key={name} size="xs" c="dimmed">
            {t('traces.step', { name, ms: durationText(value, i18n.language) })}
          </Text>
        ))}
      </div>
    </section>
  );
}

function Sources({ sources }: Detail) {
  const { t } = useTranslation('viewer');
  const name = (source: string) =>
    source === 'lexical' || source === 'neighbours' || source === 'past'
      ? t(`traces.source.${source}`)
      : t('traces.source.vectors', { name: source });
  return (
    <section aria-label={t('traces.sources')}>
      <h3 className={classes['heading']}>{t('traces.sources')}</h3>
      <dl className={classes['sources']}>
        {Object.entries(sources).map(([source, count]) => (
          <div key={source}>
            <dt>{name(source)}</dt>
            <dd>{count}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
