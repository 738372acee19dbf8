// Lets failed jobs run again, all or those of one session, and tells how many wait now.
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { useRetry } from './queries';

export function RetryButton({ session = null, failed }: { session?: number | null; failed?: number }) {
  const { t } = useTranslation('viewer');
  const retry = useRetry();
  const name =
    session !== null
      ? t('failures.retrySession', { id: session })
      : failed
        ? t('failures.retryCount', { count: failed })
        : t('failures.retry');
  // Callbacks of `mutate` are not called once the button is gone, and it goes with the last failure.
  const run = () =>
    retry.mutateAsync(session).then(
      ({ retried, more }) =>
        notify(more ? t('failures.retriedMore', { count: retried }) : t('failures.retried', { count: retried })),
      (thrown: unknown) => notifyError(t('failures.retryFailed', { reason: reasonOf(thrown) })),
    );
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={14} />}
      loading={retry.isPending}
      onClick={() => void run()}
    >
      {name}
    </Button>
  );
}
