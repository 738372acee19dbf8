// What went wrong, why, and what to do next, in the reader's language. The server's own words are English: they stand
// below for those who read that, folded for others; words and code can be copied.
import { Button, Group, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { CopyButton } from './CopyButton';
import { errorText, ownWords } from './errorText';
import classes from './ErrorCard.module.css';

// Asking once more for these gets the same answer.
const FINAL = new Set([400, 404, 405, 413, 415, 422, 431]);

type Props = { error: unknown; retry?: (() => unknown) | undefined; compact?: boolean };

export function ErrorCard({ error, retry, compact }: Props) {
  const { t, i18n } = useTranslation(['common', 'errors']);
  const told = asApiError(error);
  const { what, next } = errorText(error);
  const own = ownWords(error);
  const report = `${told.code}: ${own.join(' ')}`;
  return (
    <div className={classes['card']} role="alert" data-compact={compact || undefined}>
      <IconAlertCircle size={18} aria-hidden className={classes['icon']} />
      <div className={classes['words']}>
        <Text fw={600} size="sm">
          {what}
        </Text>
        {!compact && i18n.language === 'en' && (
          <Text size="sm" component="p" m={0} className={classes['message']}>
            {own.join(' ')}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {next}
        </Text>
        {!compact && i18n.language !== 'en' && (
          <details className={`${classes['own']} muted size12`}>
            <summary>{t('serverSaid')}</summary>
            <p lang="en" className={classes['message']}>
              {own.join(' ')}
            </p>
          </details>
        )}
        <Group gap="sm" mt={compact ? 4 : 8}>
          {retry && !FINAL.has(told.status) && (
            <Button variant="default" onClick={() => void retry()}>
              {t('retry')}
            </Button>
          )}
          <span className="muted size12 mono">{told.code}</span>
          <CopyButton value={report} label={t('code')} />
        </Group>
      </div>
    </div>
  );
}
