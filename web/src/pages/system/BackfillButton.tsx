// Sends all vectors to the index outside the store once more, a step at a time, and tells how far it is.
import { Button } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { backfill } from './queries';
import classes from './System.module.css';

export function BackfillButton({ possible }: { possible: boolean }) {
  const { t, i18n } = useTranslation(['system', 'common']);
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [sent, setSent] = useState<number | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));

  async function run() {
    const stop = new AbortController();
    running.current = stop;
    setSent(0);
    try {
      const { sent: all, reason } = await backfill(setSent, stop.signal);
      if (reason !== null) notifyError(t('index.notSent', { reason }));
      else notify(t('index.sent', { count: all, replace: { count: write(all) } }));
    } catch (thrown) {
      if (!stop.signal.aborted) notifyError(t('index.sendFailed', { reason: reasonOf(thrown) }));
    } finally {
      running.current = null;
      setSent(null);
      void client.invalidateQueries({ queryKey: ['system', 'standing'] });
    }
  }

  if (sent !== null) {
    return (
      <>
        <span role="status" className={classes['hint']}>
          {t('index.sending', { count: sent, replace: { count: write(sent) } })}
        </span>
        <Button variant="default" onClick={() => running.current?.abort()}>
          {t('common:cancel')}
        </Button>
      </>
    );
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconUpload size={14} />}
        disabled={!possible}
        title={possible ? t('index.backfillHint') : t('index.backfillNone')}
        onClick={() => setAsking(true)}
      >
        {t('index.backfill')}
      </Button>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t('index.backfillTitle')}
        impact={t('index.backfillImpact')}
        action={t('index.backfill')}
        danger={false}
        onConfirm={() => {
          void run();
          return Promise.resolve();
        }}
      />
    </>
  );
}
