// One delta: every lesson that it wrote before and after, who has written there since, and its rollback.
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { IconAlertTriangle, IconArchive, IconArrowBackUp, IconMinus, IconPencil, IconPlus } from '@tabler/icons-react';
import { useActorName } from '@/parts/acts/LifeMarks';
import { Facts } from '@/parts/Facts';
import { CopyButton } from '@/parts/CopyButton';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { DiffPane } from '@/parts/DiffPane';
import { FieldChanges } from '@/parts/FieldChanges';
import { TextBlock } from '@/parts/TextBlock';
import { TextLink } from '@/parts/TextLink';
import { BankNav } from './BankNav';
import { DeltaCounts, DeltaStanding, useCause } from './DeltaLine';
import { type Delta, type DeltaOp, deltaPage, deltaQuery, roleOf, shortId } from './queries';
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
      pending={query.isPending}
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
            <ul className="plain">
              {told.ops.map((op) => (
                <DeltaWrite key={`${op.mem_id} ${op.version}`} op={op} stands={told.status === 'applied'} />
              ))}
            </ul>
          )}
        </Panel>
        <Panel title={t('about')} state={query}>
          {(told) => (
            <Facts
              facts={[
                [t('change.actor'), causeName(told.cause)],
                [t('run'), <Ref key="run" reference={told.run_id} />],
                [t('change.when'), <TimeText key="when" at={told.created_at * 1_000} />],
                [t('change.reverts'), told.reverts && <Ref reference={told.reverts} />],
              ]}
            />
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

const ICONS = { add: IconPlus, update: IconPencil, archive: IconArchive, restore: IconArrowBackUp, remove: IconMinus };

/** One lesson that a delta wrote: before and after, and a warning where a person has edited it since. */
function DeltaWrite({ op, stands }: { op: DeltaOp; stands: boolean }) {
  const { t } = useTranslation('bank');
  const Icon = ICONS[op.op];
  const { before, after } = op;
  const names = [t('change.before'), t('change.after')] as const;
  return (
    <li className={classes['op']}>
      <div className={classes['op-head']}>
        <h3>
          <Icon size={14} aria-hidden />
          {t(`ops.${op.op}`)}
        </h3>
        <Ref reference={`mem:${op.mem_id}`}>{`mem:${shortId(op.mem_id)}`}</Ref>
        <span className="muted">{roleOf(after)}</span>
      </div>
      {op.edited_since.length > 0 && <Since op={op} stands={stands} />}
      {before === null ? (
        <div className={classes['added']}>
          {after.title && <strong>{after.title}</strong>}
          <TextBlock text={after.content} name={`${op.mem_id}.txt`} />
        </div>
      ) : (
        <>
          {before.content !== after.content && <DiffPane before={before.content} after={after.content} names={names} />}
          <FieldChanges changes={changes(before, after)} names={names} />
        </>
      )}
    </li>
  );
}

/** What differs between two states of a lesson beside its content. */
function changes(before: DeltaOp['after'], after: DeltaOp['after']) {
  const [old, now] = [before, after].map((state) => ({
    status: state.status,
    role: roleOf(state),
    title: state.title,
  }));
  return (['status', 'role', 'title'] as const)
    .map((field) => ({ field, before: old?.[field], after: now?.[field] }))
    .filter((change) => change.before !== change.after);
}

/** Only what a person did is a reason to hesitate; other deltas are told beside it. */
function Since({ op, stands }: { op: DeltaOp; stands: boolean }) {
  const actorName = useActorName();
  const { t } = useTranslation('bank');
  const hands = op.edited_since.filter((write) => write.by_hand);
  const deltas = [...new Set(op.edited_since.flatMap(({ by_hand: hand, delta_id: id }) => (hand ? [] : (id ?? []))))];
  return (
    <div
      className={classes['notice']}
      data-tone={hands.length && stands ? 'warn' : undefined}
      role="note"
      style={{ marginBottom: 8 }}
    >
      {hands.length > 0 && <IconAlertTriangle size={16} aria-hidden />}
      <div className={classes['words']}>
        {hands.length > 0 && <strong>{t('change.edited')}</strong>}
        {hands.map((write) => (
          <div key={write.version}>
            {t('change.editedWhen', { version: write.version, actor: actorName(write.actor) })}
            {' · '}
            <TimeText at={write.created_at * 1_000} />
          </div>
        ))}
        {deltas.length > 0 && (
          <div>
            {t('change.writtenSince')}{' '}
            {deltas.map((id) => (
              <Ref key={id} reference={id} copy={false}>
                {shortId(id)}
              </Ref>
            ))}
          </div>
        )}
        {op.more_since && <div>{t('change.more')}</div>}
      </div>
      <TextLink to={`/ui/rb/${encodeURIComponent(op.mem_id)}?tab=versions`}>{t('change.readVersions')}</TextLink>
    </div>
  );
}
