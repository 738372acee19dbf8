// What went wrong, why, and what to do next, in the reader's language; the server's own words and code can be copied.
import { Button, Group, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { CopyButton } from './CopyButton';
import classes from './ErrorCard.module.css';

type Props = { error: unknown; retry?: (() => unknown) | undefined; compact?: boolean };

export function ErrorCard({ error, retry, compact }: Props) {
  const { t } = useTranslation(['common', 'errors']);
  const told = asApiError(error);
  const { what, next } = useErrorText(error);
  const report = `${told.code}: ${told.message}${told.hint ? ` (${told.hint})` : ''}`;
  return (
    <div className={classes['card']} role="alert" data-compact={compact || undefined}>
      <IconAlertCircle size={18} aria-hidden className={classes['icon']} />
      <div className={classes['words']}>
        <Text fw={600} size="sm">
          {what}
        </Text>
        {!compact && (
          <Text size="sm" component="p" m={0} className={classes['message']}>
            {told.message}
            {told.hint && <span className={classes['hint']}> {told.hint}</span>}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {next}
        </Text>
        <Group gap="sm" mt={compact ? 4 : 8}>
          {retry && (
            <Button variant="default" onClick={() => void retry()}>
              {t('retry')}
            </Button>
          )}
          <span className={classes['code']}>{told.code}</span>
          <CopyButton value={report} label={t('code')} />
        </Group>
      </div>
    </div>
  );
}

/** What an error means and what to do next, translated by its code. */
export function useErrorText(error: unknown): { what: string; next: string } {
  const { t, i18n } = useTranslation('errors');
  const { code } = asApiError(error);
  const known = i18n.exists(`errors:${code}.what`) ? (code as 'unknown') : 'unknown';
  return { what: t(`${known}.what`), next: t(`${known}.next`) };
}
