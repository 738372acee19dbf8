// One delta: every lesson that it wrote before and after, who has written there since, and its rollback.
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { BankNav } from './BankNav';
import { DeltaCounts } from './DeltaCounts';
import { DeltaStanding, useCause } from './DeltaStanding';
import { DeltaWrite } from './DeltaWrite';
import { deltaPage, deltaQuery, type Delta } from './queries';
import { RollbackButton } from './RollbackButton';
import classes from './Bank.module.css';

export function DeltaPage() {
  const { t } = useTranslation(['bank', 'common']);
  const { id = '' } = useParams({ strict: false });
  const query = useQuery(deltaQuery(id));
  const delta = query.data;
  const causeName = useCause();
  return (
    <Page
      title={t('delta')}
      description={
        <Group gap="sm">
          <code>{id}</code>
          <CopyButton value={id} label={t('common:id')} />
          {delta && <DeltaStanding status={delta.status} />}
          {delta && <DeltaCounts counts={delta.counts} />}
        </Group>
      }
      actions={delta && <RollbackButton delta={delta} />}
    >
      <BankNav />
      {delta?.status === 'reverted' && <TakenBack delta={delta} />}
      <div className={classes['columns']}>
        <Panel
          title={t('change.title')}
          flush
          state={query}
          isEmpty={(told) => !told.ops.length}
          empty={{ title: t('change.none') }}
        >
          {(told) => (
            <ul className={classes['ops']}>
              {told.ops.map((op) => (
                <DeltaWrite key={`${op.mem_id} ${op.version}`} op={op} stands={told.status === 'applied'} />
              ))}
            </ul>
          )}
        </Panel>
        <Panel title={t('page.about')} state={query}>
          {(told) => (
            <dl className={classes['facts']}>
              <dt>{t('change.actor')}</dt>
              <dd>{causeName(told.cause)}</dd>
              <dt>{t('run')}</dt>
              <dd>
                <Ref reference={told.run_id} />
              </dd>
              <dt>{t('change.when')}</dt>
              <dd>
                <TimeText at={told.created_at * 1_000} />
              </dd>
              {told.reverts && (
                <>
                  <dt>{t('change.reverts')}</dt>
                  <dd>
                    <Ref reference={told.reverts} />
                  </dd>
                </>
              )}
            </dl>
          )}
        </Panel>
      </div>
    </Page>
  );
}

function TakenBack({ delta }: { delta: Delta }) {
  const { t } = useTranslation('bank');
  // The rollback is among the newest deltas of the same run.
  const later = useQuery({
    queryKey: ['bank', 'taken-back', delta.delta_id],
    queryFn: () => deltaPage({ run: delta.run_id, status: '' }, null),
  });
  const by = later.data?.rows.find((each) => each.reverts === delta.delta_id);
  return (
    <div className={classes['notice']} role="status">
      <span className={classes['words']}>{t('change.takenBack')}</span>
      {by && (
        <span>
          {t('change.by')} <Ref reference={by.delta_id} />
        </span>
      )}
    </div>
  );
}
