// The knowledge base that agents write with memory_add: entries, the newest first or by a question, and one of them.
import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { ListPanel } from '@/parts/ListPanel';
import { text, useSearchState } from '@/app/searchState';
import { CopyButton } from '@/parts/CopyButton';
import { Markdown } from '@/parts/Markdown';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { TimeText } from '@/parts/TimeText';
import { KnowledgeFrame } from './KnowledgeFrame';
import classes from './Knowledge.module.css';
import { entryPage, useEntry } from './queries';

const SCHEMA = { q: text(), sel: text() };
const TRY = 'codexmem kb add "Deploys happen on Tuesdays." --summary "When we deploy"';
const ROW = 56;

export function EntriesPage() {
  const { t } = useTranslation('knowledge');
  const [{ q, sel }, set] = useSearchState(SCHEMA);
  const list = usePages(['knowledge', 'entries', q], (cursor) => entryPage(q, cursor));
  return (
    <KnowledgeFrame q={q} onSearch={(words) => set({ q: words, sel: '' }, { replace: true })}>
      <SplitView
        chosen={sel !== ''}
        onBack={() => set({ sel: '' })}
        right={sel ? <EntryDetail id={sel} /> : null}
        left={
          <ListPanel
            list={list}
            title={q ? t('entries.found') : t('entries.title')}
            empty={{ title: t('entries.empty'), why: t('entries.emptyWhy'), command: TRY }}
            filtered={q ? { text: t('nothing', { q }), onClear: () => set({ q: '' }) } : undefined}
            label={t('entries.title')}
            keyOf={(row) => row.id}
            rowHeight={ROW}
            selectedKey={sel || null}
            onSelect={(row) => set({ sel: row.id }, { replace: sel !== '' })}
            render={({ title, snippet, at }) => (
              <span className={classes['row']}>
                <span className={classes['title']}>{title}</span>
                {at !== null && <TimeText at={at} />}
                <span className={classes['snippet']}>{snippet}</span>
              </span>
            )}
          />
        }
      />
    </KnowledgeFrame>
  );
}

function EntryDetail({ id }: { id: string }) {
  const { t } = useTranslation(['knowledge', 'life', 'common']);
  const entry = useEntry(id);
  const tags = (entry.data?.attrs as { tags?: string[] } | undefined)?.tags ?? [];
  return (
    <Panel
      title={entry.data?.title ?? t('entries.one')}
      state={entry}
      actions={<CopyButton value={id} label={t('common:id')} />}
    >
      {({ content, updated_ms, origin }) => (
        <>
          <Markdown text={content} />
          <Group gap="xs" mt="md">
            {tags.map((tag) => (
              <Badge key={tag} color="slate">
                {tag}
              </Badge>
            ))}
            <Text size="xs" c="dimmed">
              {t(`life:origin.${origin}`)} · <TimeText at={updated_ms} />
            </Text>
          </Group>
        </>
      )}
    </Panel>
  );
}
