// Asks before something changes: shows what it would touch as the server tells it now, never from memory.
import { Checkbox, Skeleton, Text } from '@mantine/core';
import { useQuery, type QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import type { Kind } from '@/api/life';
import { ConfirmDialog } from '../ConfirmDialog';
import { ErrorCard } from '../ErrorCard';
import { KindMark } from '../KindMark';
import classes from './Acts.module.css';

type Props<T> = {
  opened: boolean;
  onClose: () => void;
  title: string;
  action: string;
  danger?: boolean;
  confirmText?: string;
  size?: string | number;
  /** What would change. */
  asked: { key: QueryKey; ask: (signal: AbortSignal) => Promise<T> };
  children: (told: T) => ReactNode;
  onConfirm: () => Promise<unknown>;
};

/** Nothing can be confirmed before what it would change stands there. */
export function ImpactDialog<T>({ asked: { key, ask }, children, danger = false, ...rest }: Props<T>) {
  const query = useQuery({
    // What an earlier opening was told is never shown again.
    queryKey: ['impact', rest.opened, ...key],
    queryFn: ({ signal }) => ask(signal),
    enabled: rest.opened,
    staleTime: 0,
    gcTime: 0,
  });
  const told = rest.opened && query.data !== undefined;
  const waiting = query.isError ? <ErrorCard error={query.error} retry={query.refetch} /> : <Skeleton h={80} />;
  const impact = told ? children(query.data as T) : waiting;
  return <ConfirmDialog {...rest} danger={danger} ready={told} impact={impact} />;
}

export type Touched = { seq: number; kind: Kind; title: string; effect?: ReactNode };

/** The first of the memories that it would touch. */
export function Impact({ label, touched }: { label: string; touched: readonly Touched[] }) {
  return (
    <ul className={classes['impact']} aria-label={label}>
      {touched.map(({ seq, kind, title, effect }) => (
        <li key={seq}>
          <KindMark kind={kind} bare />
          <span className="cut grow" dir="auto">
            {title}
          </span>
          {effect && (
            <Text span size="xs" c="dimmed">
              {effect}
            </Text>
          )}
        </li>
      ))}
    </ul>
  );
}

type ElsewhereProps = {
  label: string;
  /** Other memories that carry the text, and the first of them. */
  count: number;
  first: readonly Schemas['FollowedMemory'][];
  /** What else carries it. */
  traces?: number;
  follow: boolean;
  onFollow: (follow: boolean) => void;
};

/** What carries the text elsewhere: whether it shall go too. */
export function Elsewhere({ label, count, first, traces = 0, follow, onFollow }: ElsewhereProps) {
  const { t } = useTranslation('timeline');
  if (!count && !traces) return null;
  const memories = count > 0 && t('forget.quoting', { count });
  const rest = traces > 0 && t('forget.traces', { count: traces });
  return (
    <>
      <Checkbox
        checked={follow}
        onChange={(event) => onFollow(event.currentTarget.checked)}
        label={label}
        description={[memories, rest].filter(Boolean).join(' · ')}
      />
      {count > 0 && (
        <Impact
          label={t('forget.firstQuoting')}
          touched={first.map(({ seq, kind, title, snippet }) => ({ seq, kind, title: title || snippet }))}
        />
      )}
    </>
  );
}
