// Jobs that failed for good: by class, each with its message, and the way to let them run again.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/app/useShortcuts';
import { useLiveEvents, useQueueDepth } from '@/live/useLive';
import { Facts } from '@/parts/Facts';
import { FilterFold } from '@/parts/FilterFold';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import { CopyButton } from '@/parts/CopyButton';
import { PageLink } from '@/parts/Ref';
import { TextBlock } from '@/parts/TextBlock';
import { FailureClasses } from './FailureClasses';
import { Exports, FilterChoice, FilterText, FilterTime } from './Filters';
import { type Failure, useFailures, useRefresh } from './queries';
import { RetryButton } from './RetryButton';
import { narrowed, NO_FILTERS, type TabProps, WORK } from './state';
import classes from './Viewer.module.css';

export function Failures({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const failed = useQueueDepth()?.failed ?? 0;
  const refresh = useRefresh();
  useLiveEvents(() => refresh('failures'), ['queue.failed']);
  const { data } = useFailures(state);
  const chosen = data?.failures.find(({ id }) => id === state.sel);
  const close = () => set({ sel: null }, { replace: true });
  useShortcuts(chosen ? [{ keys: 'Escape', label: t('failures.detail'), run: close }] : []);
  const setSession = (typed: string) => set({ session: typed ? Number(typed) : null, sel: null }, { replace: true });
  const setClass = (name: string) => set({ class: name, sel: null }, { replace: true });
  return (
    <>
      <FilterFold boxed values={[state.class, state.session, state.type, state.from, state.to]}>
        <FilterText label={t('filters.errorClass')} value={state.class} onChange={setClass} />
        <FilterText
          label={t('filters.session')}
          value={state.session === null ? '' : String(state.session)}
          onChange={setSession}
          numeric
        />
        <FilterChoice
          label={t('filters.type')}
          value={state.type}
          options={WORK.map((value) => ({ value, label: t(`timings.type.${value}`) }))}
          onChange={(type) => set({ type: WORK.find((each) => each === type) ?? '', sel: null })}
        />
        <FilterTime name="from" state={state} set={set} />
        <FilterTime name="to" state={state} set={set} />
        <Exports what="failures" state={state} />
      </FilterFold>
      {data?.total !== 0 && <FailureClasses state={state} set={set} failed={failed} />}
      <SplitView
        leftWidth="minmax(280px, 3fr)"
        chosen={chosen !== undefined}
        sticky
        onBack={close}
        left={<Recent state={state} set={set} />}
        right={chosen ? <FailureDetail failure={chosen} /> : null}
      />
    </>
  );
}

function Recent({ state, set }: TabProps) {
  const { t } = useTranslation('viewer');
  const failures = useFailures(state);
  const filtered = narrowed(state, ['session', 'type', 'class', 'from', 'to']);
  const clear = () => set({ ...NO_FILTERS, sel: null });
  return (
    <Panel
      title={t('failures.recent')}
      state={failures}
      isEmpty={({ total }) => total === 0}
      empty={{ title: t('failures.none'), why: t('failures.noneWhy') }}
      filtered={filtered ? { text: t('filters.noneFailures'), onClear: clear } : undefined}
      degraded={failures.data?.truncated ? t('failures.truncated') : null}
      actions={state.session !== null ? <RetryButton session={state.session} /> : null}
      flush
    >
      {({ total, failures: rows }) => (
        <>
          <Text size="xs" c="dimmed" px={12} py={6}>
            {t('failures.logged', { count: total })}
          </Text>
          <VirtualRows
            rows={rows}
            keyOf={(row) => String(row.id)}
            render={(row) => <Row row={row} />}
            label={t('failures.label')}
            selectedKey={state.sel === null ? null : String(state.sel)}
            onSelect={(row) => set({ sel: row.id }, { replace: state.sel !== null })}
            rowHeight={52}
            height="min(60vh, 560px)"
          />
        </>
      )}
    </Panel>
  );
}

function Row({ row }: { row: Failure }) {
  return (
    <div className="column grow">
      <span className="cut" title={row.error} dir="auto">
        {row.error}
      </span>
      <span className={classes['second']}>
        <code>{row.errorClass}</code>
        <span>{row.kind}</span>
        <TimeText at={row.atEpoch} />
      </span>
    </div>
  );
}

/** One failure: the whole message, where it belongs, and what can be done. */
function FailureDetail({ failure }: { failure: Failure }) {
  const { t, i18n } = useTranslation(['viewer', 'common']);
  const { error, errorClass, kind, jobId, sessionDbId, attempts, atEpoch } = failure;
  const said = i18n.exists(`viewer:failures.class.${errorClass}`)
    ? t(`failures.class.${errorClass as 'timeout'}`)
    : null;
  return (
    <Panel title={t('failures.detail')} actions={sessionDbId !== null ? <RetryButton session={sessionDbId} /> : null}>
      <Facts
        facts={[
          [
            t('failures.className'),
            <span key="class">
              <code>{errorClass}</code> {said}
            </span>,
          ],
          [t('failures.kind'), <code key="kind">{kind}</code>],
          [t('failures.when'), <TimeText key="when" at={atEpoch} exact />],
          [t('failures.tried'), t('failures.attempts', { count: attempts })],
          [
            t('failures.ofSession'),
            sessionDbId !== null && (
              <PageLink to={`/ui/sessions/${sessionDbId}`}>{t('timings.session', { id: sessionDbId })}</PageLink>
            ),
          ],
          [
            t('common:id'),
            jobId !== null && (
              <span>
                {t('failures.job', { id: jobId })} <CopyButton value={String(jobId)} label={t('common:id')} />
              </span>
            ),
          ],
        ]}
      />
      <TextBlock text={error} copy mono />
    </Panel>
  );
}
