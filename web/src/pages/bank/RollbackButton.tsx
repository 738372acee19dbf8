// Takes a delta back, after its preview; nothing where it was taken back before.
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DeltaRow } from './queries';
import { RollbackDialog } from './RollbackDialog';

type Props = { delta: Pick<DeltaRow, 'delta_id' | 'run_id' | 'status'>; small?: boolean };

export function RollbackButton({ delta, small = false }: Props) {
  const { t } = useTranslation('bank');
  const [asked, setAsked] = useState(false);
  if (delta.status !== 'applied') return small ? <span style={{ width: 28 }} /> : null;
  const name = t('rollback.openOf', { delta: delta.delta_id });
  return (
    <span onClick={(event) => event.stopPropagation()} onDoubleClick={(event) => event.stopPropagation()}>
      {small ? (
        <Tooltip label={t('rollback.open')}>
          <ActionIcon size={28} aria-label={name} onClick={() => setAsked(true)}>
            <IconArrowBackUp size={14} />
          </ActionIcon>
        </Tooltip>
      ) : (
        <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => setAsked(true)}>
          {t('rollback.open')}
        </Button>
      )}
      <RollbackDialog runId={delta.run_id} deltaId={delta.delta_id} opened={asked} onClose={() => setAsked(false)} />
    </span>
  );
}
