// What a memory of any kind says, in the parts that its kind has.
import { Badge, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { WholeMemory } from '@/api/life';
import { CopyButton } from './CopyButton';
import { listOf as labelled } from './facets';
import { Markdown } from './Markdown';
import { Linked, TextBlock } from './TextBlock';
import { TextLink } from './TextLink';
import classes from './MemoryText.module.css';

type Props = { memory: WholeMemory; /** As it is written instead of as it reads. */ source?: boolean };

const SUMMARY = ['request', 'investigated', 'learned', 'completed', 'next_steps', 'notes'] as const;
const LISTS = [
  ['facts', Texts],
  ['phrasings', Texts],
  ['alternatives', Texts],
  ['concepts', Labels],
  ['tags', Labels],
  ['files_read', Files],
  ['files_modified', Files],
] as const;

/** Whether it has a rendered form and a source. */
export function isMarkdown({ kind }: Pick<WholeMemory, 'kind'>): boolean {
  return kind === 'note' || kind === 'qa' || kind === 'knowledge';
}

/** A text as it is meant to be read. */
export function Content({ kind, text }: Pick<WholeMemory, 'kind'> & { text: string }) {
  return isMarkdown({ kind }) ? <Markdown text={text} /> : <TextBlock text={text} />;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function MemoryText({ memory, source = false }: Props) {
  const { t } = useTranslation('memory');
  const { kind, attrs, title } = memory;
  const subtitle = textOf(attrs['subtitle']);
  const summary = kind === 'qa' ? textOf(attrs['summary']) : '';
  return (
    <Stack gap="md">
      {kind === 'lesson' && title && (
        <strong dir="auto">
          <Linked text={title} />
        </strong>
      )}
      {subtitle && (
        <Text size="sm" c="dimmed" dir="auto">
          <Linked text={subtitle} />
        </Text>
      )}
      <Words memory={memory} source={source} />
      {summary && (
        <Part title={t('parts.summary')}>
          <TextBlock text={summary} links />
        </Part>
      )}
      {LISTS.map(([field, Drawn]) => {
        const values = listOf(attrs[field]);
        return (
          values.length > 0 && (
            <Part key={field} title={t(`parts.${field}`)}>
              <Drawn values={values} field={field} project={memory.project} />
            </Part>
          )
        );
      })}
    </Stack>
  );
}

function Words({ memory, source = false }: Props) {
  const { t } = useTranslation('memory');
  const { kind, content, attrs } = memory;
  const parts = kind === 'summary' ? SUMMARY.filter((name) => textOf(attrs[name])) : [];
  if (parts.length) {
    return parts.map((name) => (
      <Part key={name} title={t(`parts.${name}`)}>
        <TextBlock text={textOf(attrs[name])} links />
      </Part>
    ));
  }
  if (!content) return <Text c="dimmed">{t(attrs['private'] ? 'private' : 'empty')}</Text>;
  if (isMarkdown(memory) && !source) return <Markdown text={content} />;
  return <TextBlock text={content} copy={!source} mono={source} links name={`${memory.seq}.txt`} />;
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={3} className={classes['part']}>
        {title}
      </Title>
      {children}
    </section>
  );
}

type ListProps = { values: readonly string[]; field: string; project: string };

function Texts({ values }: ListProps) {
  return (
    <ul className={classes['texts']}>
      {values.map((text, index) => (
        <li key={index} dir="auto">
          <Linked text={text} />
        </li>
      ))}
    </ul>
  );
}

function Labels({ values, field, project }: ListProps) {
  return (
    <Group gap="xs">
      {values.map((value) => (
        <Badge key={value} color="slate" tt="none" maw={240}>
          {field === 'concepts' ? <TextLink to={labelled({ concept: value, project })}>{value}</TextLink> : value}
        </Badge>
      ))}
    </Group>
  );
}

function Files({ values, project }: ListProps) {
  const { t } = useTranslation('memory');
  return (
    <ul className={classes['files']}>
      {values.map((path) => (
        <li key={path}>
          <TextLink to={labelled({ file: path, project })}>
            <code>{path}</code>
          </TextLink>
          <CopyButton value={path} label={t('parts.file')} />
        </li>
      ))}
    </ul>
  );
}
