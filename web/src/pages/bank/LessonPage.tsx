// One lesson: what it says and said, whom it is for, where it comes from; edited, archived and brought back here.
import { Badge, Button, Group, Tabs } from '@mantine/core';
import { IconArchive, IconArchiveOff, IconPencil, IconRoute } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { CopyButton } from '@/parts/CopyButton';
import { ErrorCard } from '@/parts/ErrorCard';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { notify, notifyError, undoable } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { LessonEditor } from './LessonEditor';
import { LessonFacts } from './LessonFacts';
import { useTypeName } from './LessonLine';
import { LESSON_STATE, TABS } from './lessonState';
import { LessonVersions } from './LessonVersions';
import { archiveLesson, editLesson, lessonQuery, useBankChanged, type Lesson } from './queries';
import classes from './Bank.module.css';

export function LessonPage() {
  const { id = '' } = useParams({ strict: false });
  return <OneLesson key={id} id={id} />;
}

function OneLesson({ id }: { id: string }) {
  const { t } = useTranslation(['bank', 'common']);
  const query = useQuery(lessonQuery(id));
  const lesson = query.data;
  const [state, set] = useSearchState(LESSON_STATE);
  const [editing, setEditing] = useState(false);
  const [whence, setWhence] = useState<string | null>(null);
  const typeName = useTypeName();
  const reference = `mem:${id}`;
  const open = lesson !== undefined && lesson.status !== 'deleted';
  const edit = () => {
    set({ tab: 'content' });
    setEditing(true);
  };
  useShortcuts(open && !editing ? [{ keys: 'e', label: t('page.edit'), run: edit }] : []);
  if (query.isError && !lesson) {
    return (
      <Page title={t('lesson')} description={<code>{reference}</code>}>
        <ErrorCard error={query.error} retry={query.refetch} />
      </Page>
    );
  }
  return (
    <Page
      title={t('lesson')}
      description={
        <Group gap="sm">
          <code>{reference}</code>
          <CopyButton value={reference} label={t('common:id')} />
          {lesson && <StatusMark status={lesson.status} />}
          {lesson && <Badge color="brand">{lesson.role}</Badge>}
          {lesson && <Badge color="slate">{typeName(lesson.type)}</Badge>}
          {lesson?.edited_by_hand && <Badge color="yellow">{t('byHand')}</Badge>}
        </Group>
      }
      actions={
        <>
          <Button variant="default" leftSection={<IconRoute size={14} />} onClick={() => setWhence(reference)}>
            {t('page.why')}
          </Button>
          {open && (
            <Button variant="default" leftSection={<IconPencil size={14} />} onClick={edit} disabled={editing}>
              {t('page.edit')}
            </Button>
          )}
          {open && <ShelfButton lesson={lesson} />}
        </>
      }
    >
      {lesson && lesson.status !== 'active' && (
        <div className={classes['notice']} data-tone="warn" role="status">
          <span className={classes['words']}>
            {t(lesson.status === 'deleted' ? 'page.takenBack' : 'page.isArchived')}
          </span>
        </div>
      )}
      <Tabs value={state.tab} onChange={(tab) => set({ tab: LESSON_STATE.tab.parse(tab ?? '') })}>
        <Tabs.List aria-label={t('page.tabs.label')} mb="md">
          {TABS.map((tab) => (
            <Tabs.Tab
              key={tab}
              value={tab}
              rightSection={tab === 'versions' && lesson ? <Badge color="slate">{lesson.version}</Badge> : null}
            >
              {t(`page.tabs.${tab}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="content">
          <div className={classes['columns']}>
            {editing && lesson ? (
              <LessonEditor lesson={lesson} onDone={() => setEditing(false)} />
            ) : (
              <Panel title={t('page.content')} state={query}>
                {(told) => (
                  <>
                    {told.title && <strong>{told.title}</strong>}
                    <TextBlock text={told.content} copy name={`${id}.txt`} />
                  </>
                )}
              </Panel>
            )}
            <Panel title={t('page.about')} state={query}>
              {(told) => <LessonFacts lesson={told} />}
            </Panel>
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="versions">{lesson && <LessonVersions lesson={lesson} state={state} set={set} />}</Tabs.Panel>
      </Tabs>
      <ProvenanceDrawer reference={whence} onClose={() => setWhence(null)} />
    </Page>
  );
}

/** Archives a lesson, or brings it back; either can be taken back at once. */
function ShelfButton({ lesson }: { lesson: Lesson }) {
  const { t } = useTranslation('bank');
  const changed = useBankChanged();
  const { mem_id: id, status } = lesson;
  const bringBack = async () => {
    await editLesson(id, { status: 'active' });
    await changed();
  };
  const acting = useMutation({
    mutationFn: () => (status === 'active' ? archiveLesson(id).then(changed) : bringBack()),
    onSuccess: () => {
      if (status === 'active') undoable(t('page.archived'), bringBack);
      else notify(t('page.broughtBack'));
    },
    onError: (error) => notifyError(reasonOf(error)),
  });
  const Icon = status === 'active' ? IconArchive : IconArchiveOff;
  return (
    <Button
      variant="default"
      leftSection={<Icon size={14} />}
      loading={acting.isPending}
      onClick={() => acting.mutate()}
    >
      {t(status === 'active' ? 'page.archive' : 'page.bringBack')}
    </Button>
  );
}
