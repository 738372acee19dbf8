// The source behind a citation, beside whatever cites it: a piece of a document as the run saw it, or a lesson.
import { Drawer, Group, Skeleton, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ErrorCard } from '@/parts/ErrorCard';
import { PageLink, Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { PieceView } from './PieceView';
import { useLesson, usePiece } from '@/api/lab';
import classes from './Lab.module.css';

type Props = { runId: string; name: string; onClose: () => void };

/** Open while a name is given: "C12" or "mem:…". */
export function SourceDrawer({ runId, name, onClose }: Props) {
  const { t } = useTranslation(['lab', 'common']);
  return (
    <Drawer
      opened={name !== ''}
      onClose={onClose}
      title={t('source.title', { name })}
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {name.startsWith('mem:') ? (
        <LessonSource memId={name.slice('mem:'.length)} />
      ) : (
        name !== '' && <PieceSource runId={runId} alias={name} />
      )}
    </Drawer>
  );
}

function PieceSource({ runId, alias }: { runId: string; alias: string }) {
  const { t } = useTranslation('lab');
  const piece = usePiece(runId, alias);
  if (piece.isError) return <ErrorCard error={piece.error} retry={piece.refetch} />;
  if (!piece.data) return <Skeleton h={200} />;
  return (
    <>
      <PieceView piece={piece.data} />
      <PageLink to={`/ui/runs/${runId}?tab=evidence&alias=${alias}`}>{t('source.inEvidence')}</PageLink>
    </>
  );
}

function LessonSource({ memId }: { memId: string }) {
  const { t } = useTranslation('lab');
  const lesson = useLesson(memId);
  if (lesson.isError) return <ErrorCard error={lesson.error} retry={lesson.refetch} />;
  if (!lesson.data) return <Skeleton h={200} />;
  const { title, content, status, role, source_run_id: source, edited_by_hand: byHand } = lesson.data;
  return (
    <>
      <Group gap="sm" mb="sm">
        <Text size="xs" c="dimmed">
          {t('source.lesson')}
        </Text>
        <StatusMark status={status} />
        {byHand && (
          <Text size="xs" c="dimmed">
            {t('source.byHand')}
          </Text>
        )}
      </Group>
      {title && (
        <Text fw={600} mb={4}>
          {title}
        </Text>
      )}
      <TextBlock text={content} copy name={`${memId}.txt`} />
      <dl className={classes['facts']}>
        <div>
          <dt>{t('source.role')}</dt>
          <dd>{role}</dd>
        </div>
        {source && (
          <div>
            <dt>{t('source.learnedFrom')}</dt>
            <dd>
              <Ref reference={source} />
            </dd>
          </div>
        )}
      </dl>
      <PageLink to={`/ui/rb/${encodeURIComponent(memId)}`}>{t('source.openLesson')}</PageLink>
    </>
  );
}
