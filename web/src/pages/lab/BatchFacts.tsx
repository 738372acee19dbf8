// What a batch was asked and with what it runs.
import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { configOf, type Batch } from '@/api/lab';
import { Took } from '@/parts/Took';
import classes from './Lab.module.css';

const CONFIGURED = [
  ['profile', 'profile'],
  ['model', 'llm_model'],
  ['server', 'openai_api_base'],
  ['principles', 'kb_principles_dir'],
  ['modulation', 'kb_modulation_dir'],
] as const;

export function BatchFacts({ batch }: { batch: Batch }) {
  const { t, i18n } = useTranslation('lab');
  const config = configOf(batch);
  const overridden = Object.keys((config['overrides'] ?? {}) as Record<string, unknown>);
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  return (
    <>
      <div className={classes['request-text']} tabIndex={0} role="group" aria-label={t('form.request')}>
        <TextBlock text={batch.user_request} copy name={`${batch.batch_id}.txt`} />
      </div>
      <dl className={classes['facts']}>
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
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
