// Lessons of the ReasoningBank, newest first, or the best first where words are given.
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { choice, text, useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { BankNav } from './BankNav';
import { LessonFilters } from './LessonFilters';
import { LessonLine } from './LessonLine';
import { NewNoteDialog } from './NewNoteDialog';
import { lessonPage, SHELVES, TYPES, type Lesson } from './queries';
import { useFresh } from './useFresh';

const SCHEMA = { role: text(), type: choice(['', ...TYPES], ''), status: choice(['', ...SHELVES], ''), q: text() };
const ROW = 58;
const keyOf = (lesson: Lesson) => lesson.mem_id;

export function LessonsPage() {
  const { t } = useTranslation(['bank', 'common']);
  const navigate = useNavigate();
  const [state, set] = useSearchState(SCHEMA);
  const { role, type, status, q } = state;
  const [writing, setWriting] = useState(false);
  const wish = useMemo(() => ({ role, type, status, q }), [role, type, status, q]);
  const key = useMemo(() => ['bank', 'lessons', wish], [wish]);
  const list = usePages(key, (cursor) => lessonPage(wish, cursor));
  // The best for some words are in no order of time: what is new among them cannot be told.
  const { shown, fresh } = useFresh(key, list.rows, keyOf, () => lessonPage(wish, null), !q);
  useShortcuts([{ keys: 'n', label: t('note.add'), run: () => setWriting(true) }]);
  const filtered = role || type || status || q;
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <Button leftSection={<IconPlus size={14} />} onClick={() => setWriting(true)}>
          {t('note.add')}
        </Button>
      }
    >
      <BankNav />
      <LessonFilters state={wish} set={set}>
        <NewRows count={fresh} onShow={() => void list.restart()} />
      </LessonFilters>
      <Panel
        label={t('lessons')}
        flush
        state={list.query}
        isEmpty={() => !list.rows.length && !list.hasMore}
        empty={{ title: t('noLessons'), why: t('noLessonsWhy'), command: 'codexmem rb learn RUN' }}
        filtered={
          filtered
            ? { text: t('noLessonsFiltered'), onClear: () => set({ role: '', type: '', status: '', q: '' }) }
            : undefined
        }
      >
        <VirtualRows
          rows={shown}
          keyOf={keyOf}
          render={(lesson) => <LessonLine lesson={lesson} />}
          label={t('lessons')}
          rowHeight={ROW}
          height={`min(70vh, ${Math.max(1, shown.length) * ROW - 1}px)`}
          onOpen={(lesson) => void navigate({ to: '/ui/rb/$id', params: { id: lesson.mem_id } })}
          onEndReached={list.more}
          loadingMore={list.loadingMore}
        />
      </Panel>
      <NewNoteDialog opened={writing} onClose={() => setWriting(false)} />
    </Page>
  );
}
