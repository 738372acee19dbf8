// Why a run has no output, and what to do about it.
import { Button, Group, Text } from '@mantine/core';
import { IconBan, IconCircleX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/parts/CommandLine';
import { CopyButton } from '@/parts/CopyButton';
import type { Run } from '@/api/lab';
import classes from './Lab.module.css';

// The server's words for a model that refused, failed or kept silent begin like this.
const MODEL = /\bmodel\b/i;

export function RunNotice({ run, onShowFailed }: { run: Run; onShowFailed: () => void }) {
  const { t } = useTranslation(['lab', 'common']);
  if (run.status === 'canceled') {
    const { cancel_reason: reason } = run;
    return (
      <div className={classes['notice']} data-quiet>
        <IconBan size={18} aria-hidden color="var(--cm-muted)" />
        <div className={classes['words']}>
          <Text fw={600} size="sm">
            {t('canceled.title')}
          </Text>
          <Text size="sm">
            {!reason || reason === 'user_cancel' ? t('canceled.byUser') : t('canceled.why', { reason })}
          </Text>
          <Text size="xs" c="dimmed">
            {t('canceled.next')}
          </Text>
        </div>
      </div>
    );
  }
  if (run.status !== 'failed') return null;
  const error = run.error ?? '';
  return (
    <div className={classes['notice']} role="alert">
      <IconCircleX size={18} aria-hidden color="var(--cm-err)" />
      <div className={classes['words']}>
        <Text fw={600} size="sm">
          {t('failure.title')}
        </Text>
        <pre>{error}</pre>
        <Text size="xs" c="dimmed" mb={4}>
          {t(MODEL.test(error) ? 'failure.model' : 'failure.next')}
        </Text>
        {MODEL.test(error) && <CommandLine command="codexmem doctor" />}
      </div>
      <Group gap="sm">
        <CopyButton value={error} label={t('common:text')} />
        <Button variant="default" onClick={onShowFailed}>
          {t('failure.show')}
        </Button>
        <Button
          renderRoot={(props) => <Link {...props} to="/ui/batches/new" search={{ from: run.batch_id } as never} />}
        >
          {t('failure.again')}
        </Button>
      </Group>
    </div>
  );
}
