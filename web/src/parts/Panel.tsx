// A titled box around the answer to one question, in each of the states an answer can be in: on its way (skeleton),
// failed, empty for a reason, empty by a filter, limited, or there.
import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconFilterOff, IconInbox } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CommandLine } from './CommandLine';
import { ErrorCard } from './ErrorCard';
import classes from './Panel.module.css';

/** What Panel needs of a query; useQuery and useInfiniteQuery results fit. */
export type QueryLike<T> = {
  isPending: boolean;
  isError: boolean;
  error: unknown;
  data: T | undefined;
  isFetching?: boolean;
  refetch: () => unknown;
};

type Props<T> = {
  title?: ReactNode;
  /** Not needed for a panel that asks nothing. */
  state?: QueryLike<T>;
  isEmpty?: (data: T) => boolean;
  empty?: { title: string; why?: string; command?: string };
  /** Given while a filter is on: then an empty answer names the filter and offers to clear it. */
  filtered?: { text: string; onClear: () => void } | undefined;
  /** Why the answer is less than it could be, e.g. "found by words only". */
  degraded?: string | null | undefined;
  skeleton?: ReactNode;
  actions?: ReactNode;
  /** No padding around the content: lists and tables that reach the edges. */
  flush?: boolean;
  /** The name for assistive technology where there is no visible title. */
  label?: string;
  className?: string;
  children: ReactNode | ((data: T) => ReactNode);
};

export function Panel<T>(props: Props<T>) {
  const { title, state, degraded, actions, flush, label, className } = props;
  const id = useId();
  return (
    <section
      className={[`${classes['panel']} column`, className].filter(Boolean).join(' ')}
      {...(title ? { 'aria-labelledby': id } : { 'aria-label': label })}
      aria-busy={state?.isPending || undefined}
    >
      {(title || actions) && (
        <Group className={classes['head']} justify="space-between" gap="sm">
          {title ? (
            <Title order={2} id={id}>
              {title}
            </Title>
          ) : (
            <span />
          )}
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      {degraded && (
        <p className={classes['degraded']} role="status">
          <IconAlertTriangle size={14} aria-hidden />
          <span>{degraded}</span>
        </p>
      )}
      <div className={flush ? classes['flush'] : 'padded'}>
        <Inside {...props} />
      </div>
    </section>
  );
}

function Inside<T>({ state, isEmpty, empty, filtered, skeleton, children }: Props<T>) {
  if (!state) return typeof children === 'function' ? null : children;
  // An older answer is worth more than an error; a failed refresh is told above it.
  if (state.data === undefined) {
    if (state.isError) return <ErrorCard error={state.error} retry={state.refetch} />;
    return skeleton ?? <Lines />;
  }
  const failed = state.isError && <ErrorCard error={state.error} retry={state.refetch} compact />;
  if (isEmpty?.(state.data)) {
    return (
      <>
        {failed}
        {filtered ? <FilteredEmpty {...filtered} /> : empty && <Empty {...empty} />}
      </>
    );
  }
  return (
    <>
      {failed}
      {typeof children === 'function' ? children(state.data) : children}
    </>
  );
}

function Lines() {
  const { t } = useTranslation();
  return (
    <Stack gap="sm" className={classes['lines']} role="status" aria-label={t('loading')}>
      {[92, 78, 85, 60].map((width) => (
        <Skeleton key={width} h={14} w={`${width}%`} />
      ))}
    </Stack>
  );
}

/** Nothing is there yet: why, and what to do about it. */
export function Empty({ title, why, command }: { title: string; why?: string; command?: string }) {
  return (
    <div className={classes['empty']}>
      <IconInbox size={28} stroke={1.4} aria-hidden />
      <Text fw={600}>{title}</Text>
      {why && (
        <Text size="sm" c="dimmed" maw={460}>
          {why}
        </Text>
      )}
      {command && <CommandLine command={command} />}
    </div>
  );
}

function FilteredEmpty({ text, onClear }: { text: string; onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <div className={classes['empty']}>
      <IconFilterOff size={28} stroke={1.4} aria-hidden />
      <Text fw={600}>{text}</Text>
      <Button variant="default" onClick={onClear}>
        {t('clearFilters')}
      </Button>
    </div>
  );
}
