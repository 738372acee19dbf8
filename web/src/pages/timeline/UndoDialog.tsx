// Taking back what a session or a change wrote: shows what would change and asks; it can itself be taken back.
import { Button, Group, Radio, Skeleton, Stack, Text } from '@mantine/core';
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

type Props = {
  opened: boolean;
  onClose: () => void;
  whose: Whose;
  title?: string;
  /** The delta is itself an undoing: what it hid comes back. */
  bringsBack?: boolean;
  /** What undid it before; where nothing is left to undo, that can be brought back. */
  undone?: string | undefined;
};
type Mode = 'safe' | 'strict';

export function UndoDialog({ opened, onClose, whose, title, bringsBack = false, undone }: Props) {
  const { t } = useTranslation('timeline');
  const [mode, setMode] = useState<Mode>('safe');
  const [switched, setSwitched] = useState<string | null>(null);
  const subject = switched === null ? whose : { delta: switched };
  const back = bringsBack || switched !== null;
  const changed = useChanged();
  async function takeBack() {
    const done = await undo(subject, mode);
    changed();
    const { delta } = done;
    const message = t(back ? 'undo.brought' : 'undo.done', { count: done.restored });
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
      onClose={() => {
        setSwitched(null);
        onClose();
      }}
      title={title && !back ? title : t('undo.back')}
      impact={
        <Changes whose={subject} mode={mode} onMode={setMode} onBack={undone ? () => setSwitched(undone) : undefined} />
      }
      action={t(back ? 'undo.backAction' : 'undo.action')}
      danger={false}
      onConfirm={takeBack}
    />
  );
}

type ChangesProps = { whose: Whose; mode: Mode; onMode: (mode: Mode) => void; onBack: (() => void) | undefined };

function Changes({ whose, mode, onMode, onBack }: ChangesProps) {
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
  if (!memories) {
    if (!onBack) return <Text size="sm">{t('undo.nothing')}</Text>;
    return (
      <Group justify="space-between">
        <Text size="sm">{t('undo.nothingLeft')}</Text>
        <Button variant="default" onClick={onBack}>
          {t('memory.bringBack')}
        </Button>
      </Group>
    );
  }
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
