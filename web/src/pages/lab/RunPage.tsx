// The workbench of one run: what it did, what it answered, what it rests on, what people said and what was learned.
import { Badge, Group, Skeleton, Tabs } from '@mantine/core';
import { IconPointFilled } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { DownloadLink } from '@/parts/DownloadLink';
import { ErrorCard } from '@/parts/ErrorCard';
import { Page } from '@/parts/Page';
import { PageLink } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { CancelButton } from './CancelButton';
import { EvidenceTab } from './EvidenceTab';
import { OutputTab } from './OutputTab';
import { ended, fetchEvents, fetchEvidence, shownStatus, useBatch, useRun, type Evidence } from '@/api/lab';
import { RunNotice } from './RunNotice';
import { RUN_STATE, TABS } from './runState';
import { Took } from '@/parts/Took';
import { TraceReader } from './traceReader';
import { TraceTab } from './TraceTab';

const UNFILTERED = { event: '', type: '', q: '' };
const FeedbackTab = lazy(() => import('../bank/FeedbackTab').then((module) => ({ default: module.FeedbackTab })));
const LearningTab = lazy(() => import('../bank/LearningTab').then((module) => ({ default: module.LearningTab })));

export function RunPage() {
  const { id = '' } = useParams({ strict: false });
  return <Workbench key={id} id={id} />;
}

function Workbench({ id }: { id: string }) {
  const { t, i18n } = useTranslation(['lab', 'common']);
  const [state, set] = useSearchState(RUN_STATE);
  const query = useRun(id);
  const run = query.data;
  const batch = useBatch(run?.batch_id ?? '', { live: false }).data;
  // The reader outlives a change of tabs, so that a long trace is read once.
  const reader = useMemo(() => new TraceReader((cursor, signal) => fetchEvents(id, cursor, signal)), [id]);
  const evidenceKey = useMemo(() => ['lab', 'evidence', id], [id]);
  const evidence = usePages<Evidence>(evidenceKey, async (cursor) => {
    const page = await fetchEvidence(id, cursor);
    return { rows: page.items, next: page.next_cursor };
  });
  const live = run !== undefined && !ended(run);
  useEvidenceWhile(live, evidence.query.refetch);
  if (query.isError && !run) {
    return (
      <Page title={t('run')} description={<code>{id}</code>}>
        <ErrorCard error={query.error} retry={query.refetch} />
      </Page>
    );
  }
  const pieces = evidence.rows.length.toLocaleString(localeTag(i18n.language));
  return (
    <Page
      title={run && batch ? t('runTitle', { n: run.run_index, count: batch.n_runs }) : t('run')}
      description={
        <Group gap="sm">
          {run && <PageLink to={`/ui/batches/${run.batch_id}`}>{run.batch_id}</PageLink>}
          <span aria-hidden>/</span>
          <code>{id}</code>
          <CopyButton value={id} label={t('common:id')} />
          {run && <StatusMark status={shownStatus(run)} />}
          {run && <Took of={run} />}
          {batch?.dry_run && <Badge color="slate">{t('dryRun')}</Badge>}
          {run?.library_empty && <Badge color="orange">{t('libraryEmpty')}</Badge>}
        </Group>
      }
      actions={
        run && (
          <>
            {run.status === 'completed' && (
              <DownloadLink href={`/api/v1/runs/${encodeURIComponent(id)}/output`} name={`${id}.json`}>
                {t('downloadOutput')}
              </DownloadLink>
            )}
            <CancelButton run={run} />
          </>
        )
      }
    >
      {run && <RunNotice run={run} onShowFailed={() => set({ ...UNFILTERED, tab: 'trace', failed: true })} />}
      <Tabs value={state.tab} onChange={(tab) => set({ tab: RUN_STATE.tab.parse(tab ?? '') })}>
        <Tabs.List aria-label={t('tabs.label')} mb="md">
          {TABS.map((tab) => (
            <Tabs.Tab
              key={tab}
              value={tab}
              rightSection={
                tab === 'evidence' && evidence.rows.length ? (
                  <Badge color="slate">{evidence.hasMore ? `${pieces}+` : pieces}</Badge>
                ) : tab === 'feedback' && run?.feedback ? (
                  <IconPointFilled size={14} role="img" aria-label={t('feedbackGiven')} color="var(--cm-ok)" />
                ) : null
              }
            >
              {t(`tabs.${tab}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="trace">
          <TraceTab reader={reader} run={run} runId={id} state={state} set={set} />
        </Tabs.Panel>
        <Tabs.Panel value="output">
          <OutputTab run={run} runId={id} dryRun={batch?.dry_run ?? false} state={state} set={set} />
        </Tabs.Panel>
        <Tabs.Panel value="evidence">
          <EvidenceTab list={evidence} runId={id} state={state} set={set} />
        </Tabs.Panel>
        <Tabs.Panel value="feedback">
          <Suspense fallback={<Skeleton h={240} />}>
            <FeedbackTab runId={id} dryRun={batch?.dry_run ?? false} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="learning">
          <Suspense fallback={<Skeleton h={240} />}>
            <LearningTab runId={id} dryRun={batch?.dry_run ?? false} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

const EVIDENCE_MS = 2_000;

/** New evidence appears while a run goes on, and once more when it has ended. */
function useEvidenceWhile(live: boolean, refetch: () => unknown) {
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => void refetch(), EVIDENCE_MS);
    return () => {
      clearInterval(timer);
      void refetch();
    };
  }, [live, refetch]);
}
