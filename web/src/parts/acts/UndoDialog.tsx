// Taking back what a session or a change wrote: shows what would change and asks; it can itself be taken back.
import '@mantine/core/styles/Radio.layer.css';
import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { useMemoriesChanged, type Kind } from '@/api/life';
import { undo, undoElsewhere, undoPreview, undoTrail, type Whose } from '@/api/undo';
import type en from '@/i18n/en/timeline';
import { localeTag } from '@/i18n';
import { notify, undoable } from '../undoable';
import { Elsewhere, Impact, ImpactDialog } from './ImpactDialog';

type Props = {
  opened: boolean;
  onClose: () => void;
  whose: Whose;
  title?: string;
  /** The delta is itself an undoing: what it hid comes back. */
  bringsBack?: boolean;
};
type Mode = 'safe' | 'strict';
type Told = Schemas['UndoPreview'] & { /** Unless it brings something back. */ trail: Schemas['UndoTrail'] | null };

export function UndoDialog({ opened, onClose, whose, title, bringsBack: back = false }: Props) {
  const { t } = useTranslation('timeline');
  const [mode, setMode] = useState<Mode>('safe');
  const [follow, setFollow] = useState(false);
  const changed = useMemoriesChanged();
  async function ask(signal: AbortSignal): Promise<Told> {
    const [told, trail] = await Promise.all([undoPreview(whose, signal), back ? null : undoTrail(whose, signal)]);
    return { ...told, trail };
  }
  async function takeBack() {
    const done = await undo(whose, mode);
    const elsewhere = follow && !back ? await undoElsewhere(whose) : null;
    void changed();
    const count = done.restored + (elsewhere?.hidden ?? 0);
    const message = t(back ? 'undo.brought' : 'undo.done', { count });
    const deltas = [elsewhere?.delta, done.delta].filter((delta) => typeof delta === 'string');
    if (deltas.length) {
      undoable(message, async () => {
        for (const delta of deltas) await undo({ delta }, 'safe');
        await changed();
      });
    } else notify(message);
    if (done.left) notify(t('undo.left', { count: done.left }));
    if (done.lost.length) notify(t('undo.lost', { uris: done.lost.join(' ') }));
  }
  return (
    <ImpactDialog
      opened={opened}
      onClose={() => {
        setFollow(false);
        onClose();
      }}
      title={title && !back ? title : t('undo.back')}
      asked={{ key: ['undo', whose], ask }}
      action={t(back ? 'undo.backAction' : 'undo.action')}
      onConfirm={takeBack}
    >
      {(told) => (
        <>
          <Changes told={told} mode={mode} onMode={setMode} />
          {told.trail && told.memories > 0 && (
            <Elsewhere
              label={t('undo.follow')}
              count={told.trail.quoting}
              first={told.trail.first_quoting}
              follow={follow}
              onFollow={setFollow}
            />
          )}
        </>
      )}
    </ImpactDialog>
  );
}

type ChangesProps = {
  told: Schemas['UndoPreview'];
  mode: Mode;
  onMode: (mode: Mode) => void;
};

function Changes({ told, mode, onMode }: ChangesProps) {
  const { t, i18n } = useTranslation('timeline');
  const { memories, written_since: since, first, more } = told;
  if (!memories) return <Text size="sm">{t('undo.nothing')}</Text>;
  const count = mode === 'safe' ? memories - since : memories;
  const shown = count.toLocaleString(localeTag(i18n.language));
  const touched = first.map((change) => ({
    seq: change.seq,
    kind: change.kind as Kind,
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
