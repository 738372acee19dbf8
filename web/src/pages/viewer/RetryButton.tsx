// Lets failed jobs run again, all or those of one session, and tells how many wait now.
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { useRetry } from './queries';

export function RetryButton({ session = null, failed }: { session?: number | null; failed?: number }) {
  const { t } = useTranslation('viewer');
  const retry = useRetry({
    onSuccess: ({ retried, more }) =>
      notify(more ? t('failures.retriedMore', { count: retried }) : t('failures.retried', { count: retried })),
    onError: (thrown) => notifyError(t('failures.retryFailed', { reason: reasonOf(thrown) })),
  });
  const name =
    session !== null
      ? t('failures.retrySession', { id: session })
      : failed
        ? t('failures.retryCount', { count: failed })
        : t('failures.retry');
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={14} />}
      loading={retry.isPending}
      onClick={() => retry.mutate(session)}
    >
      {name}
    </Button>
  );
}
