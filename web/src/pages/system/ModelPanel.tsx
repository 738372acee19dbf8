// How good the model's answers were, how often rules had to step in, and what the answers cost today.
import '@mantine/core/styles/Progress.layer.css';
import { Button, Progress } from '@mantine/core';
import { IconRotate } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { Panel, type QueryLike } from '@/parts/Panel';
import { notify } from '@/parts/undoable';
import type { System } from '@/parts/WorkerFacts';
import { useResetCounters, type Outcomes } from './queries';
import classes from './System.module.css';

const OUTCOMES = ['success', 'parse_fail', 'schema_fail', 'repair_fail', 'fallback_used'] as const;

export function ModelPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  const [asking, setAsking] = useState(false);
  const reset = useResetCounters();
  const metrics = system.data?.model.metrics;
  const counted = metrics ? total(metrics.observation) + total(metrics.summary) : 0;
  return (
    <Panel
      title={t('model.title')}
      state={system}
      actions={
        <Button
          variant="default"
          leftSection={<IconRotate size={14} />}
          disabled={!counted}
          onClick={() => setAsking(true)}
        >
          {t('model.reset')}
        </Button>
      }
    >
      {({ model, budget }: System) => (
        <>
          <Budget {...budget} />
          <Counts {...model.metrics} />
          <ConfirmDialog
            opened={asking}
            onClose={() => setAsking(false)}
            title={t('model.resetTitle')}
            impact={t('model.resetImpact', { count: counted })}
            action={t('model.reset')}
            onConfirm={() => reset.mutateAsync(undefined, { onSuccess: () => notify(t('model.wasReset')) })}
          />
        </>
      )}
    </Panel>
  );
}

function total(outcomes: Outcomes): number {
  return OUTCOMES.reduce((sum, name) => sum + outcomes[name], 0);
}

function Counts(metrics: System['model']['metrics']) {
  const { t, i18n } = useTranslation('system');
  return (
    <div className="scrollsX" tabIndex={0} role="group" aria-label={t('model.counts')}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{t('model.outcome')}</th>
            <th scope="col" className={classes['number']}>
              {t('model.observation')}
            </th>
            <th scope="col" className={classes['number']}>
              {t('model.summary')}
            </th>
          </tr>
        </thead>
        <tbody>
          {OUTCOMES.map((name) => (
            <tr key={name}>
              <th scope="row" title={t(`model.why.${name}`)}>
                {t(`model.outcomes.${name}`)}
              </th>
              {(['observation', 'summary'] as const).map((work) => (
                <td key={work} className={classes['number']} data-none={metrics[work][name] === 0 || undefined}>
                  {metrics[work][name].toLocaleString(localeTag(i18n.language))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Budget({ day, spentTokens, limitTokens, leftTokens }: System['budget']) {
  const { t, i18n } = useTranslation('system');
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const share = limitTokens ? Math.min(100, (spentTokens / limitTokens) * 100) : 0;
  return (
    <div className={classes['budget']} role="group" aria-label={t('budget.title')}>
      <div className={classes['spent']}>
        <span>{t('budget.title')}</span>
        <strong>
          {limitTokens === null
            ? t('budget.spent', { count: spentTokens, replace: { count: write(spentTokens) } })
            : t('budget.spentOf', { spent: write(spentTokens), limit: write(limitTokens) })}
        </strong>
      </div>
      {limitTokens !== null && (
        <Progress value={share} color={share >= 90 ? 'red' : 'brand'} aria-label={t('budget.share')} />
      )}
      <span className="muted size12">
        {limitTokens === null
          ? t('budget.noLimit', { day })
          : leftTokens
            ? t('budget.left', { count: leftTokens, replace: { count: write(leftTokens), day } })
            : t('budget.gone', { day })}
      </span>
    </div>
  );
}
