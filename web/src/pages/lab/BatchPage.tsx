// One batch: what was asked, how far it is, and its runs.
import { Badge, Button, Group } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { paged } from '@/api/client';
import { usePages } from '@/api/queries';
import { Fact, Facts } from '@/parts/Facts';
import { FilterSelect } from '@/parts/FilterSelect';
import { ListPanel } from '@/parts/ListPanel';
import { choice, useSearchState } from '@/app/searchState';
import { CopyButton } from '@/parts/CopyButton';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { CancelButton } from './CancelButton';
import { type Batch, configOf, fetchRuns, type Run, shownStatus, STATUSES, useBatch } from '@/api/lab';
import { localeTag } from '@/i18n';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { Took } from '@/parts/Took';
import { CompareRuns } from './CompareRuns';
import classes from './Lab.module.css';
import { RunsProgress } from './RunsProgress';

const SCHEMA = { status: choice(['', ...STATUSES], '') };

export function BatchPage() {
  const { t } = useTranslation(['lab', 'common']);
  const { id = '' } = useParams({ strict: false });
  const query = useBatch(id);
  const batch = query.data;
  return (
    <Page
      pending={query.isPending}
      title={batch ? titleOf(batch.user_request) : t('batch')}
      description={
        <div className={classes['about']}>
          {batch && <StatusMark status={shownStatus(batch)} />}
          {batch?.dry_run && <Badge color="slate">{t('dryRun')}</Badge>}
          <code>{id}</code>
          <CopyButton value={id} label={t('common:id')} />
        </div>
      }
      actions={
        batch && (
          <>
            <Button
              variant="default"
              leftSection={<IconRepeat size={14} />}
              renderRoot={(props) => <Link {...props} to="/ui/batches/new" search={{ from: id } as never} />}
            >
              {t('details.again')}
            </Button>
            <CancelButton batch={batch} />
          </>
        )
      }
    >
      <Panel title={t('details.title')} state={query}>
        {(found) => <BatchFacts batch={found} />}
      </Panel>
      {batch && <Runs batch={batch} />}
    </Page>
  );
}

const TITLE = 160; // characters; the whole request stands below

function titleOf(request: string): string {
  const line = request.trim().replace(/\s+/g, ' ');
  return line.length > TITLE ? `${line.slice(0, TITLE)}…` : line;
}

function Runs({ batch }: { batch: Batch }) {
  const { t } = useTranslation(['lab', 'common']);
  const navigate = useNavigate();
  const [{ status }, set] = useSearchState(SCHEMA);
  const id = batch.batch_id;
  const list = usePages<Run>(['lab', 'runs', id, { status }], async (cursor) =>
    paged(await fetchRuns(id, cursor, status ? [status] : [])),
  );
  // A batch has a thousand runs at most, so its few pages may be read again whenever one of them has moved on.
  const moved = JSON.stringify([batch.runs_by_status, batch.cancel_id]);
  const { refetch } = list.query;
  useEffect(() => void refetch(), [moved, refetch]);
  return (
    <>
      <ListPanel
        list={list}
        title={t('runs')}
        empty={{ title: t('noRuns'), why: t('noRunsWhy') }}
        filtered={
          status
            ? {
                text: t('noRunsFiltered', { status: t(`common:status.${status}`) }),
                onClear: () => set({ status: '' }),
              }
            : undefined
        }
        actions={
          <Group gap="lg">
            <RunsProgress batch={batch} />
            <FilterSelect
              label={t('status')}
              bare
              unset={t('anyStatus')}
              words={STATUSES}
              nameOf={(word) => t(`common:status.${word}`)}
              value={status}
              onChange={(word) => set({ status: word })}
              w={140}
            />
          </Group>
        }
        keyOf={(run) => run.run_id}
        render={(run) => <RunRow run={run} />}
        label={t('runs')}
        total={status ? undefined : batch.n_runs}
        onOpen={(run) => void navigate({ to: '/ui/runs/$id', params: { id: run.run_id } })}
        rowHeight={40}
        most="60vh"
      />
      {!status && list.rows.length > 1 && <CompareRuns runs={list.rows} />}
    </>
  );
}

const CONFIGURED = [
  ['profile', 'profile'],
  ['model', 'llm_model'],
  ['server', 'openai_api_base'],
  ['principles', 'kb_principles_dir'],
  ['modulation', 'kb_modulation_dir'],
] as const;

/** What a batch was asked and with what it runs. */
function BatchFacts({ batch }: { batch: Batch }) {
  const { t, i18n } = useTranslation('lab');
  const config = configOf(batch);
  const overridden = Object.keys((config['overrides'] ?? {}) as Record<string, unknown>);
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  return (
    <>
      <div className={classes['request-text']} tabIndex={0} role="group" aria-label={t('form.request')}>
        <TextBlock text={batch.user_request} copy name={`${batch.batch_id}.txt`} />
      </div>
      <Facts tiles>
        <Fact name={t('details.runs')}>{number(batch.n_runs)}</Fact>
        <Fact name={t('details.recipes')}>{number(batch.recipes_per_run)}</Fact>
        <Fact name={t('details.temperature')}>{number(batch.temperature)}</Fact>
        <Fact name={t('details.created')}>
          <TimeText at={batch.created_at * 1_000} />
        </Fact>
        {batch.started_at !== null && (
          <Fact name={t('details.took')}>
            <Took of={batch} />
          </Fact>
        )}
        {CONFIGURED.map(([label, name]) => {
          const value = config[name];
          return (
            <Fact key={name} name={t(`details.${label}`)}>
              {typeof value === 'string' && value ? value : t('details.standard')}{' '}
              {overridden.includes(name) && <Badge color="blue">{t('details.overridden')}</Badge>}
            </Fact>
          );
        })}
      </Facts>
    </>
  );
}

/** One run in its batch: number, status, time, why it failed, score. */
function RunRow({ run }: { run: Run }) {
  const { t, i18n } = useTranslation('lab');
  const score = run.feedback?.score;
  return (
    <div className={`${classes['run']} row grow gap12`}>
      <span className={classes['index']} title={run.run_id}>
        {t('runNumber', { n: run.run_index })}
      </span>
      <span className={classes['status']}>
        <StatusMark status={shownStatus(run)} />
        {run.library_empty && <Badge color="orange">{t('libraryEmpty')}</Badge>}
      </span>
      <span className={`${classes['why']} err cut grow`} data-quiet={run.error === null || undefined}>
        {run.error ?? (run.status === 'queued' ? t('waits') : '')}
      </span>
      <span className={classes['score']}>
        {typeof score === 'number'
          ? t('score', { score: score.toLocaleString(localeTag(i18n.language)) })
          : run.feedback && t('scored')}
      </span>
      <span className={classes['took']}>
        <Took of={run} />
      </span>
    </div>
  );
}
