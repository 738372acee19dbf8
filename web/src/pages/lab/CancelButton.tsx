// Cancels a batch or a run, after saying what that means. It is only requested: the status tells when it has happened.
import { Button } from '@mantine/core';
import { IconBan } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconAct } from '@/parts/IconAct';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { notify } from '@/parts/undoable';
import { cancelBatch, cancelRun, ended, type Batch, type Run } from '@/api/lab';

type Props = ({ batch: Batch; run?: undefined } | { run: Run; batch?: undefined }) & {
  /** In a row there is room for an icon only. */
  small?: boolean;
};

export function CancelButton({ batch, run, small = false }: Props) {
  const { t } = useTranslation('lab');
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const thing = batch ?? run;
  if (ended(thing) || thing.cancel_id !== null) return null;
  const name = batch ? batch.batch_id : run.run_id;
  const action = t(batch ? 'cancelBatch' : 'cancelRun');
  const impact = batch
    ? t('cancelBatchImpact', { queued: batch.runs_by_status.queued, running: batch.runs_by_status.running })
    : t('cancelRunImpact');
  return (
    <span onClick={(event) => event.stopPropagation()} onDoubleClick={(event) => event.stopPropagation()}>
      {small ? (
        <IconAct label={action} icon={IconBan} variant="default" run={() => setAsking(true)} />
      ) : (
        <Button variant="default" leftSection={<IconBan size={14} />} onClick={() => setAsking(true)}>
          {action}
        </Button>
      )}
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t('keep', { name })}
        impact={impact}
        action={action}
        onConfirm={async () => {
          await (batch ? cancelBatch(name) : cancelRun(name));
          notify(t('cancelRequested'));
          await client.invalidateQueries({ queryKey: ['lab'] });
        }}
      />
    </span>
  );
}
