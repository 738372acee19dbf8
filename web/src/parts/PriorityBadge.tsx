// How important a note is: P0 to P2 are told to agents at every start, and stand out.
import { Badge, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const CORE = 2;

export function isCore(priority: number): boolean {
  return priority <= CORE;
}

export function PriorityBadge({ priority, short = false }: { priority: number; short?: boolean }) {
  const { t } = useTranslation('notes');
  const core = isCore(priority);
  const badge = (
    <Badge color={core ? 'brand' : 'slate'} miw={30} px={6}>
      {`P${priority}`}
    </Badge>
  );
  if (short) return badge;
  return <Tooltip label={core ? t('priority.core') : t('priority.usual')}>{badge}</Tooltip>;
}
