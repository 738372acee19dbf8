// What an act asks first, by act; the same on every page.
import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Living } from '@/api/life';
import { EditDialog } from './EditDialog';
import type { Asking } from './look';
import { MergeDialog } from './MergeDialog';
import { SplitDialog } from './SplitDialog';
import type { Perform } from './useActs';
import { ConfirmDialog } from '../ConfirmDialog';
import { MemoryPicker } from './MemoryPicker';

export type Props = {
  act: Asking;
  memories: readonly Living[];
  onClose: () => void;
  perform: Perform;
  /** Of a merge. */
  keeping?: number | undefined;
};

export function AskingDialog({ act, memories, keeping, ...rest }: Props) {
  const [memory] = memories;
  if (!memory) return null;
  if (act === 'edit') return <EditDialog memory={memory} {...rest} />;
  if (act === 'split') return <SplitDialog memory={memory} {...rest} />;
  if (act === 'merge') return <MergeDialog memories={memories} keeping={keeping} {...rest} />;
  return <SupersedeDialog memories={memories} {...rest} />;
}

type SupersedeDialogProps = { memories: readonly Living[]; onClose: () => void; perform: Perform };

/** Another memory takes the place of these: which one. */
function SupersedeDialog({ memories, onClose, perform }: SupersedeDialogProps) {
  const { t } = useTranslation('life');
  const [by, setBy] = useState<Living | null>(null);
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('supersede.title', { what: memories.map(({ ref }) => ref).join(' ') })}
      action={t('supersede.action')}
      danger={false}
      ready={by !== null}
      onConfirm={async () => by && perform({ act: 'supersede', into: by.seq }, memories)}
      impact={
        <Stack gap="sm">
          <MemoryPicker
            label={t('supersede.with')}
            except={memories.map(({ seq }) => seq)}
            value={by}
            onChange={setBy}
          />
          <Text size="sm">{t('supersede.impact')}</Text>
        </Stack>
      }
    />
  );
}
