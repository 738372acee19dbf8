// Whether a delta stands or was taken back, by icon, word and colour.
import { Badge } from '@mantine/core';
import { IconArrowBackUp, IconCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DeltaRow } from './queries';

export function DeltaStanding({ status }: { status: DeltaRow['status'] }) {
  const { t } = useTranslation('bank');
  const stands = status === 'applied';
  const Icon = stands ? IconCheck : IconArrowBackUp;
  return (
    <Badge color={stands ? 'green' : 'slate'} leftSection={<Icon size={12} aria-hidden />}>
      {t(`deltaStatus.${status}`)}
    </Badge>
  );
}

/** What made it: a learning or a rollback. */
export function useCause(): (cause: string) => string {
  const { t } = useTranslation('bank');
  return (cause) => (cause === 'learn' || cause === 'rollback' ? t(`causes.${cause}`) : cause);
}
