// What an item says, and who said it when.
import { ActionIcon, Badge, Group, Tooltip } from '@mantine/core';
import { IconArrowsSplit2, IconSitemap } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { livingOf, memoryQuery } from '@/api/life';
import { Facts } from '@/parts/Facts';
import { LifeMarks } from '@/parts/acts/LifeMarks';
import { MemoryActs } from '@/parts/acts/MemoryActs';
import { CopyButton } from '@/parts/CopyButton';
import { JsonView } from '@/parts/JsonView';
import { Markdown } from '@/parts/Markdown';
import { Part } from '@/parts/Part';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { shortId } from './besides';
import classes from './Qa.module.css';
import type { QaDetail } from './queries';

type Props = { item: QaDetail; onWhence: (id: string) => void };

export function ItemText({ item, onWhence }: Props) {
  const { t } = useTranslation(['qa', 'common']);
  const stored = useQuery(memoryQuery(item.qa_id));
  const living = stored.data && livingOf(stored.data);
  const unsaid = <span className="muted">{t('item.unsaid')}</span>;
  return (
    <article>
      <Group gap="md" className={classes['head']}>
        <StatusMark status={item.status} />
        {living && <LifeMarks life={living.life === 'superseded' ? 'superseded' : 'active'} marks={living.marks} />}
        <Ref reference={item.qa_id}>{shortId(item.qa_id)}</Ref>
        <Tooltip label={t('common:provenance.open')}>
          <ActionIcon aria-label={t('common:provenance.open')} onClick={() => onWhence(item.qa_id)}>
            <IconSitemap size={16} />
          </ActionIcon>
        </Tooltip>
        {living && <MemoryActs memory={living} without={['approve', 'edit', 'merge']} small />}
      </Group>
      {item.contradictions.length > 0 && (
        <p className={classes['warning']} role="note">
          <IconArrowsSplit2 size={16} aria-hidden />
          <span>{t('contradiction', { count: item.contradictions.length })}</span>
        </p>
      )}
      <h2 className={classes['question']} dir="auto">
        {item.question}
      </h2>
      <Answer text={item.answer} />
      {item.summary && (
        <Part name={t('item.summary')}>
          <TextBlock text={item.summary} />
        </Part>
      )}
      <Wordings name={t('item.asked')} texts={item.phrasings} />
      <Wordings name={t('item.alternatives')} texts={item.alternatives} />
      <Facts
        facts={[
          [t('item.tags'), item.tags.length ? <Tags tags={item.tags} /> : t('item.noTags')],
          [t('item.project'), item.project_id],
          [t('item.source'), item.source ?? unsaid],
          [t('item.author'), item.author ?? unsaid],
          [t('item.created'), <TimeText key="created" at={item.created_at_ms} />],
          [t('item.updated'), item.version > 1 && <TimeText at={item.updated_at_ms} />],
          [
            t('item.mergedInto'),
            item.merged_into && <Ref reference={item.merged_into}>{shortId(item.merged_into)}</Ref>,
          ],
          [
            t('item.mark'),
            <span key="mark">
              <span className="size13 mono">{item.anchor}</span>
              <CopyButton value={item.anchor} label={t('item.mark')} />
            </span>,
          ],
        ]}
      />
      {Object.keys(item.metadata).length > 0 && (
        <Part name={t('item.details')}>
          <JsonView value={item.metadata} />
        </Part>
      )}
    </article>
  );
}

/** The answer as it was meant. */
export function Answer({ text }: { text: string }) {
  return (
    <div className={classes['answer']} dir="auto">
      <Markdown text={text} />
    </div>
  );
}

function Wordings({ name, texts }: { name: string; texts: readonly string[] }) {
  if (!texts.length) return null;
  return (
    <Part name={name}>
      <ul className={classes['wordings']}>
        {texts.map((text) => (
          <li key={text} dir="auto">
            {text}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <Group gap={4} component="span">
      {tags.map((tag) => (
        <Badge key={tag} color="slate" maw={240}>
          {tag}
        </Badge>
      ))}
    </Group>
  );
}
