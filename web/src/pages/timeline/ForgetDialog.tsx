// Forgetting for good: shows what would go, and its name must be typed.
import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify } from '@/parts/undoable';
import { Impact } from './Impact';
import { forgetting, type Forgettable } from './queries';

type Props = {
  opened: boolean;
  onClose: () => void;
  what: Forgettable;
  /** How what goes is called, and what must be typed: #12. */
  name: string;
  onForgotten: () => void;
};

export function ForgetDialog({ opened, onClose, what, name, onForgotten }: Props) {
  const { t } = useTranslation('timeline');
  const whole = 'sessionDbId' in what;
  async function forget() {
    const { erased } = await forgetting(what, false);
    notify(t('forget.done', { count: erased }));
    onForgotten();
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={whole ? t('forget.sessionTitle', { number: what.sessionDbId }) : t('forget.title', { what: name })}
      impact={<Goes what={what} />}
      action={t('forget.action')}
      confirmText={name}
      onConfirm={forget}
    />
  );
}

function Goes({ what }: { what: Forgettable }) {
  const { t, i18n } = useTranslation('timeline');
  const preview = useQuery({
    queryKey: ['timeline', 'forget', what],
    queryFn: () => forgetting(what, true),
    staleTime: 0,
    gcTime: 0,
  });
  if (preview.isError) return <ErrorCard error={preview.error} retry={preview.refetch} />;
  if (!preview.data) return <Skeleton h={80} />;
  const { found, more, first } = preview.data;
  const count = found ?? 0;
  const shown = count.toLocaleString(localeTag(i18n.language));
  const text = more ? t('forget.goesMore', { number: shown }) : t('forget.goes', { count });
  return (
    <Stack gap="sm">
      <Text size="sm">{count ? text : t('forget.nothing')}</Text>
      {'sessionDbId' in what && <Text size="sm">{t('forget.sessionGoes')}</Text>}
      <Impact label={t('forget.first')} touched={first ?? []} />
    </Stack>
  );
}
