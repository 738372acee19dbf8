// What an item says, and who said it when.
import { ActionIcon, Badge, Group, Tooltip } from '@mantine/core';
import { IconArrowsSplit2, IconSitemap } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { JsonView } from '@/parts/JsonView';
import { Markdown } from '@/parts/Markdown';
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
  const unsaid = <span className={classes['muted']}>{t('item.unsaid')}</span>;
  return (
    <article>
      <Group gap="md" className={classes['head']}>
        <StatusMark status={item.status} />
        <Ref reference={item.qa_id}>{shortId(item.qa_id)}</Ref>
        <Tooltip label={t('common:provenance.open')}>
          <ActionIcon aria-label={t('common:provenance.open')} onClick={() => onWhence(item.qa_id)}>
            <IconSitemap size={16} />
          </ActionIcon>
        </Tooltip>
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
      <dl className={classes['facts']}>
        <Fact name={t('item.tags')}>
          {item.tags.length ? (
            <Group gap={4} component="span">
              {item.tags.map((tag) => (
                <Badge key={tag} color="slate" maw={240}>
                  {tag}
                </Badge>
              ))}
            </Group>
          ) : (
            <span className={classes['muted']}>{t('item.noTags')}</span>
          )}
        </Fact>
        <Fact name={t('item.project')}>{item.project_id}</Fact>
        <Fact name={t('item.source')}>{item.source ?? unsaid}</Fact>
        <Fact name={t('item.author')}>{item.author ?? unsaid}</Fact>
        <Fact name={t('item.created')}>
          <TimeText at={item.created_at_ms} />
        </Fact>
        {item.version > 1 && (
          <Fact name={t('item.updated')}>
            <TimeText at={item.updated_at_ms} />
          </Fact>
        )}
        {item.merged_into && (
          <Fact name={t('item.mergedInto')}>
            <Ref reference={item.merged_into}>{shortId(item.merged_into)}</Ref>
          </Fact>
        )}
        <Fact name={t('item.mark')}>
          <span className={classes['mono']}>{item.anchor}</span>
          <CopyButton value={item.anchor} label={t('item.mark')} />
        </Fact>
      </dl>
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

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={classes['part']}>
      <h3>{name}</h3>
      {children}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
