// Lessons of the ReasoningBank, newest first, or the best first where words are given.
import { Badge, Button, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconPlus, IconUserEdit } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { SearchInput } from '@/parts/SearchInput';
import { FilterSelect } from '@/parts/FilterSelect';
import { useTypeWord } from '@/parts/KindMark';
import { ListPanel } from '@/parts/ListPanel';
import { choice, text, useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { MemoryPeek } from '@/parts/Peek';
import { BankNav } from './BankNav';
import { LifeMarks } from '@/parts/acts/LifeMarks';
import { NewDialog } from '@/parts/acts/NewDialog';
import { useSelecting } from '@/parts/acts/useSelecting';
import { FilterFold } from '@/parts/FilterFold';
import { useRoles } from '@/api/lab';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { type Lesson, lessonPage, type LessonWish, SHELVES, shortId, TYPES } from './queries';
import { useFresh } from './useFresh';
import classes from './Bank.module.css';

const SCHEMA = { role: text(), type: choice(['', ...TYPES], ''), status: choice(['', ...SHELVES], ''), q: text() };
const ROW = 58;
const keyOf = (lesson: Lesson) => lesson.mem_id;

export function LessonsPage() {
  const { t } = useTranslation(['bank', 'common']);
  const navigate = useNavigate();
  const [state, set] = useSearchState(SCHEMA);
  const { role, type, status, q } = state;
  const [writing, setWriting] = useState(false);
  const wish = { role, type, status, q };
  const key = ['bank', 'lessons', wish];
  const list = usePages(key, (cursor) => lessonPage(wish, cursor));
  // The best for some words are in no order of time: what is new among them cannot be told.
  const { shown, fresh } = useFresh(key, list.rows, keyOf, () => lessonPage(wish, null), !q);
  const { toggle, bar } = useSelecting(shown);
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
      <ListPanel
        list={list}
        empty={{ title: t('noLessons'), why: t('noLessonsWhy'), command: 'codexmem rb learn RUN' }}
        filtered={
          filtered
            ? { text: t('noLessonsFiltered'), onClear: () => set({ role: '', type: '', status: '', q: '' }) }
            : undefined
        }
        rows={shown}
        keyOf={keyOf}
        render={(lesson) => <LessonLine lesson={lesson} />}
        label={t('lessons')}
        rowHeight={ROW}
        toggle={toggle}
        below={bar}
        peek={(row) => <MemoryPeek reference={row.ref} />}
        onOpen={(lesson) => void navigate({ to: '/ui/rb/$id', params: { id: lesson.mem_id } })}
      />
      <NewDialog kind="lesson" opened={writing} onClose={() => setWriting(false)} />
    </Page>
  );
}

type Props = {
  state: LessonWish;
  set: (change: Partial<LessonWish>, how?: { replace?: boolean }) => void;
  children?: ReactNode;
};

/** Which lessons: for whom, of which type and status, and by words. */
function LessonFilters({ state, set, children }: Props) {
  const { t } = useTranslation(['bank', 'common']);
  const typeWord = useTypeWord();
  // Lessons of another profile may be for roles that this one does not have.
  const roles = [...new Set([...(useRoles().data ?? []), state.role])].filter(Boolean);
  return (
    <FilterFold
      values={[state.role, state.type, state.status]}
      lead={
        <>
          <SearchInput label={t('search')} w={260} value={state.q} onChange={(q) => set({ q }, { replace: true })} />
          {children}
        </>
      }
    >
      <FilterSelect
        label={t('role')}
        bare
        unset={t('anyRole')}
        words={roles}
        nameOf={(role) => role}
        value={state.role}
        onChange={(role) => set({ role })}
        w={160}
      />
      <FilterSelect
        label={t('type')}
        bare
        unset={t('anyType')}
        words={TYPES}
        nameOf={typeWord}
        value={state.type}
        onChange={(type) => set({ type })}
        w={130}
      />
      <FilterSelect
        label={t('status')}
        bare
        unset={t('anyStatus')}
        words={SHELVES}
        nameOf={(word) => t(`common:status.${word}`)}
        value={state.status}
        onChange={(status) => set({ status })}
        w={140}
      />
    </FilterFold>
  );
}

const SHOWN = 300; // characters that a row can hold at most

/** One lesson in the list: what it says, for whom, from which run, and whether a person had a hand in it. */
function LessonLine({ lesson }: { lesson: Lesson }) {
  const { t } = useTranslation('bank');
  const typeName = useTypeWord();
  const { title, content, source_run_id: source } = lesson;
  const said = title ? `${title} — ${content}` : content;
  return (
    <div className={`${classes['line']} column`}>
      <div className="cut" dir="auto">
        {said.slice(0, SHOWN)}
      </div>
      <div className={classes['about']}>
        <Badge color="brand">{lesson.role}</Badge>
        <span>{typeName(lesson.type)}</span>
        {lesson.status !== 'active' && <StatusMark status={lesson.status} />}
        <LifeMarks life="active" marks={lesson.marks} />
        {lesson.edited_by_hand && (
          <Tooltip label={t('byHand')}>
            <span>
              <IconUserEdit size={14} aria-hidden />
              <VisuallyHidden>{t('byHand')}</VisuallyHidden>
            </span>
          </Tooltip>
        )}
        {source && (
          <span className={classes['wide']} onClick={(event) => event.stopPropagation()}>
            {t('from')}{' '}
            <Ref reference={source} copy={false}>
              {shortId(source)}
            </Ref>
          </span>
        )}
        <span className={`${classes['id']} ${classes['wide']}`}>{`mem:${shortId(lesson.mem_id)}`}</span>
        <span className="aside">
          <TimeText at={lesson.updated_at * 1_000} />
        </span>
      </div>
    </div>
  );
}
