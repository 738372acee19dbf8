// Taking back what a session or a change wrote: shows what would change and asks; it can itself be taken back.
import { Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type en from '@/i18n/en/timeline';
import { localeTag } from '@/i18n';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify, undoable } from '@/parts/undoable';
import { Impact } from './Impact';
import { undo, undoPreview, type MemoryKind, type Whose } from './queries';
import { useChanged } from './useDropped';

type Props = { opened: boolean; onClose: () => void; whose: Whose; title: string; action?: string };
type Mode = 'safe' | 'strict';

export function UndoDialog({ opened, onClose, whose, title, action }: Props) {
  const { t } = useTranslation('timeline');
  const [mode, setMode] = useState<Mode>('safe');
  const changed = useChanged();
  async function takeBack() {
    const done = await undo(whose, mode);
    changed();
    const { delta } = done;
    const message = t('undo.done', { count: done.restored });
    if (delta) {
      undoable(message, async () => {
        await undo({ delta }, 'safe');
        changed();
      });
    } else notify(message);
    if (done.left) notify(t('undo.left', { count: done.left }));
    if (done.lost.length) notify(t('undo.lost', { uris: done.lost.join(' ') }));
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={title}
      impact={<Changes whose={whose} mode={mode} onMode={setMode} />}
      action={action ?? t('undo.action')}
      onConfirm={takeBack}
    />
  );
}

function Changes({ whose, mode, onMode }: { whose: Whose; mode: Mode; onMode: (mode: Mode) => void }) {
  const { t, i18n } = useTranslation('timeline');
  const preview = useQuery({
    queryKey: ['timeline', 'undo', whose],
    queryFn: ({ signal }) => undoPreview(whose, signal),
    staleTime: 0,
    gcTime: 0,
  });
  if (preview.isError) return <ErrorCard error={preview.error} retry={preview.refetch} />;
  if (!preview.data) return <Skeleton h={80} />;
  const { memories, written_since: since, first, more } = preview.data;
  if (!memories) return <Text size="sm">{t('undo.nothing')}</Text>;
  const count = mode === 'safe' ? memories - since : memories;
  const shown = count.toLocaleString(localeTag(i18n.language));
  const touched = first.map((change) => ({
    seq: change.seq,
    kind: change.kind as MemoryKind,
    title: change.title,
    effect:
      change.written_since && mode === 'safe'
        ? t('undo.sinceMark')
        : t(`undo.ops.${change.op as keyof typeof en.undo.ops}`),
  }));
  return (
    <Stack gap="sm">
      <Text size="sm">
        {!count
          ? t('undo.nothingSafe')
          : more
            ? t('undo.touchesMore', { number: shown })
            : t('undo.touches', { count })}
      </Text>
      <Impact label={t('forget.first')} touched={touched} />
      {since > 0 && (
        <Radio.Group
          label={t('undo.modeLabel')}
          description={t('undo.since', { count: since })}
          value={mode}
          onChange={(chosen) => onMode(chosen as Mode)}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="safe" label={t('undo.safe')} />
            <Radio value="strict" label={t('undo.strict')} />
          </Stack>
        </Radio.Group>
      )}
    </Stack>
  );
}
