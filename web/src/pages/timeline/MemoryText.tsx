// What a memory of the timeline says, in the parts that its kind has.
import { Badge, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { TextBlock } from '@/parts/TextBlock';
import type { MemoryText as Whole } from './queries';
import classes from './Timeline.module.css';

type Level = 2 | 3;
type Props = { text: Whole; /** Level of the headings inside. */ level?: Level };

export function MemoryText({ text, level = 3 }: Props) {
  if (text.kind === 'observation') return <Observation of={text.of} level={level} />;
  if (text.kind === 'summary') return <Summary of={text.of} level={level} />;
  return <Prompt of={text.of} />;
}

function Part({ title, level, children }: { title: string; level: Level; children: ReactNode }) {
  return (
    <section>
      <Title order={level} className={classes['part']}>
        {title}
      </Title>
      {children}
    </section>
  );
}

function Observation({ of, level }: { of: Extract<Whole, { kind: 'observation' }>['of']; level: Level }) {
  const { t } = useTranslation(['timeline', 'common']);
  const said = of.narrative || of.text || '';
  const files = [
    { title: t('memory.filesRead'), paths: of.files_read },
    { title: t('memory.filesModified'), paths: of.files_modified },
  ].filter(({ paths }) => paths.length > 0);
  return (
    <Stack gap="md">
      {of.subtitle && (
        <Text size="sm" c="dimmed" dir="auto">
          {of.subtitle}
        </Text>
      )}
      {said ? <TextBlock text={said} copy name={`${of.id}.txt`} /> : <Text c="dimmed">{t('memory.empty')}</Text>}
      {of.facts.length > 0 && (
        <Part title={t('memory.facts')} level={level}>
          <ul className={classes['facts']}>
            {of.facts.map((fact, index) => (
              <li key={index} dir="auto">
                {fact}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {of.concepts.length > 0 && (
        <Part title={t('memory.concepts')} level={level}>
          <Group gap="xs">
            {of.concepts.map((concept) => (
              <Badge key={concept} color="slate" className={classes['concept'] ?? ''}>
                {concept}
              </Badge>
            ))}
          </Group>
        </Part>
      )}
      {files.map(({ title, paths }) => (
        <Part key={title} title={title} level={level}>
          <ul className={classes['files']}>
            {paths.map((path) => (
              <li key={path}>
                <code>{path}</code>
                <CopyButton value={path} label={title} />
              </li>
            ))}
          </ul>
        </Part>
      ))}
    </Stack>
  );
}

function Summary({ of, level }: { of: Extract<Whole, { kind: 'summary' }>['of']; level: Level }) {
  const { t } = useTranslation('timeline');
  const parts = [
    [t('memory.request'), of.request],
    [t('memory.investigated'), of.investigated],
    [t('memory.learned'), of.learned],
    [t('memory.completed'), of.completed],
    [t('memory.nextSteps'), of.next_steps],
    [t('memory.notes'), of.notes],
  ].filter(([, said]) => said) as [string, string][];
  if (!parts.length) return <Text c="dimmed">{t('memory.empty')}</Text>;
  return (
    <Stack gap="md">
      {parts.map(([title, said]) => (
        <Part key={title} title={title} level={level}>
          <TextBlock text={said} />
        </Part>
      ))}
    </Stack>
  );
}

function Prompt({ of }: { of: Extract<Whole, { kind: 'prompt' }>['of'] }) {
  const { t } = useTranslation('timeline');
  if (of.private) return <Text c="dimmed">{t('memory.private')}</Text>;
  return of.prompt_text ? (
    <TextBlock text={of.prompt_text} copy name={`${of.id}.txt`} />
  ) : (
    <Text c="dimmed">{t('memory.empty')}</Text>
  );
}
