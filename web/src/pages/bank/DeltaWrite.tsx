// One lesson that a delta wrote: before and after, and a warning where a person has edited it since.
import { IconAlertTriangle, IconArchive, IconArrowBackUp, IconMinus, IconPencil, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { DiffPane } from '@/parts/DiffPane';
import { Ref } from '@/parts/Ref';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { TextLink } from '@/parts/TextLink';
import { roleOf, type DeltaOp } from './queries';
import { StateChanges } from './StateChanges';
import { shortId } from './shortId';
import classes from './Bank.module.css';

const ICONS = { add: IconPlus, update: IconPencil, archive: IconArchive, restore: IconArrowBackUp, remove: IconMinus };

export function DeltaWrite({ op, stands }: { op: DeltaOp; stands: boolean }) {
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
        <span className={classes['muted']}>{roleOf(after)}</span>
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
          <StateChanges before={sides(before)} after={sides(after)} names={names} />
        </>
      )}
    </li>
  );
}

function sides(state: DeltaOp['after']) {
  return { status: state.status, role: roleOf(state), title: state.title };
}

/** Only what a person did is a reason to hesitate; other deltas are told beside it. */
function Since({ op, stands }: { op: DeltaOp; stands: boolean }) {
  const { t } = useTranslation('bank');
  const hands = op.edited_since.filter((write) => write.by_hand);
  const deltas = [...new Set(op.edited_since.flatMap((write) => write.delta_id ?? []))];
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
            {t('change.editedWhen', { version: write.version, actor: write.actor })}
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
