// The workbench of one run: what it did, what it answered, what it rests on, what people said and what was learned.
import '@mantine/core/styles/Tabs.layer.css';
import '@mantine/core/styles/Alert.layer.css';
import { Alert, Badge, Button, Group, Skeleton, Tabs, Text } from '@mantine/core';
import { IconBan, IconCircleX, IconPointFilled } from '@tabler/icons-react';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { paged } from '@/api/client';
import { usePages } from '@/api/queries';
import { useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { DownloadLink } from '@/parts/DownloadLink';
import { ErrorCard } from '@/parts/ErrorCard';
import { Page } from '@/parts/Page';
import { StatusMark } from '@/parts/StatusMark';
import { TextLink } from '@/parts/TextLink';
import { CancelButton } from './CancelButton';
import { EvidenceTab } from './EvidenceTab';
import {
  ended,
  type Evidence,
  fetchEvents,
  fetchEvidence,
  type Run,
  shownStatus,
  useBatch,
  useOutput,
  useRun,
} from '@/api/lab';
import { RUN_STATE, type RunState, type SetRunState, TABS } from './runState';
import { Took } from '@/parts/Took';
import { CommandLine } from '@/parts/CommandLine';
import { Empty, Panel } from '@/parts/Panel';
import { TraceReader } from './traceReader';
import { TraceTab } from './TraceTab';
import { Citation } from './Cited';
import { fieldName, OutputValue } from './OutputValue';
import { SourceDrawer } from './SourceDrawer';
import classes from './Lab.module.css';

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
  const evidence = usePages<Evidence>(['lab', 'evidence', id], async (cursor) =>
    paged(await fetchEvidence(id, cursor)),
  );
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
        <div className={classes['about']}>
          {run && <StatusMark status={shownStatus(run)} />}
          {run && <Took of={run} />}
          {batch?.dry_run && <Badge color="slate">{t('dryRun')}</Badge>}
          {run?.library_empty && <Badge color="orange">{t('libraryEmpty')}</Badge>}
          {run && (
            <span className={`${classes['request']} cut grow`}>
              <TextLink to={`/ui/batches/${run.batch_id}`}>{batch?.user_request ?? run.batch_id}</TextLink>
            </span>
          )}
          <code>{id}</code>
          <CopyButton value={id} label={t('common:id')} />
        </div>
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

// The server's words for a model that refused, failed or kept silent begin like this.
const MODEL = /\bmodel\b/i;

/** Why a run has no output, and what to do about it. */
function RunNotice({ run, onShowFailed }: { run: Run; onShowFailed: () => void }) {
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

type Props = { run: Run | undefined; runId: string; dryRun: boolean; state: RunState; set: SetRunState };

/** What a run has answered, readable whatever the profile's schema is; citations open their sources. */
function OutputTab({ run, runId, dryRun, state, set }: Props) {
  const { t, i18n } = useTranslation('lab');
  const output = useOutput(runId, run?.status === 'completed');
  const open = (name: string) => set({ alias: name });
  const cited = useMemo(() => {
    const { citations = {}, memory_ids: lessons = [] } = output.data ?? {};
    return [...Object.keys(citations), ...lessons.map((id) => `mem:${id}`)];
  }, [output.data]);
  const known = useMemo(() => new Set(cited), [cited]);
  if (run && run.status !== 'completed') {
    const told = ended(run) ? 'none' : 'waiting';
    return (
      <Panel label={t('output.title')}>
        <Empty title={t(`output.${told}`)} why={t(`output.${told}Why`)} />
      </Panel>
    );
  }
  return (
    <>
      {run?.library_empty && (
        <Alert color="orange" mb="md" p="sm">
          {t('output.libraryEmpty')}
        </Alert>
      )}
      {dryRun && (
        <Alert color="slate" mb="md" p="sm">
          {t('output.dryRun')}
        </Alert>
      )}
      <Panel title={t('output.title')} state={output}>
        {({ recipes_json: answer }) => (
          <>
            {Object.entries(answer as Record<string, unknown>).map(([name, value]) => (
              <OutputValue
                key={name}
                name={fieldName(name, t, i18n)}
                value={value}
                known={known}
                onOpen={open}
                level={3}
              />
            ))}
            <Group gap="xs" mt="md">
              <Text size="sm" c="dimmed">
                {cited.length ? t('output.cites') : t('output.noCitations')}
              </Text>
              {cited.map((name) => (
                <Citation key={name} name={name} onOpen={open} />
              ))}
            </Group>
          </>
        )}
      </Panel>
      <SourceDrawer runId={runId} name={state.alias} onClose={() => set({ alias: '' })} />
    </>
  );
}
