// The source behind a citation, beside whatever cites it: a piece of a document as the run saw it, or a lesson.
import { Drawer, Group, Skeleton, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Copied } from '@/parts/CopyButton';
import { Facts } from '@/parts/Facts';
import { ErrorCard } from '@/parts/ErrorCard';
import { PageLink, Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { type Evidence, useLesson, usePiece } from '@/api/lab';
import { TimeText } from '@/parts/TimeText';
import pieces from './Piece.module.css';

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
      <Facts
        facts={[
          [t('source.role'), role],
          [t('source.learnedFrom'), source && <Ref reference={source} />],
        ]}
        tiles
      />
      <PageLink to={`/ui/rb/${encodeURIComponent(memId)}`}>{t('source.openLesson')}</PageLink>
    </>
  );
}

/** A piece of a document as a run saw it, with where it comes from. */
export function PieceView({ piece }: { piece: Evidence }) {
  const { t } = useTranslation(['lab', 'common']);
  return (
    <div className={pieces['piece']}>
      <Facts
        facts={[
          [t('source.source'), piece.source],
          [t('source.namespace'), piece.kb_namespace],
          [t('source.reference'), <Copied key="ref" value={piece.ref} label={t('common:id')} />],
          [t('source.seen'), <TimeText key="seen" at={piece.created_at * 1_000} />],
        ]}
      />
      <p className={pieces['note']}>{t('source.asSeen')}</p>
      <blockquote className={pieces['quote']}>
        <TextBlock text={piece.content ?? ''} copy name={`${piece.alias}.txt`} />
      </blockquote>
    </div>
  );
}
