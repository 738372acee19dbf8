// Takes a delta back, after its preview; nothing where it was taken back before.
import { ActionIcon, Button, Stack, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconArrowBackUp } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ImpactDialog } from '@/parts/acts/ImpactDialog';
import { DiffPane } from '@/parts/DiffPane';
import { Empty, Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { notify, undoable } from '@/parts/undoable';
import {
  type DeltaRow,
  LEARNED,
  type Preview,
  preview,
  type Prospect,
  rollBack,
  shortId,
  useBankChanged,
} from './queries';
import classes from './Bank.module.css';

type Props = { delta: Pick<DeltaRow, 'delta_id' | 'run_id' | 'status'>; small?: boolean };

export function RollbackButton({ delta, small = false }: Props) {
  const { t } = useTranslation('bank');
  const [asked, setAsked] = useState(false);
  if (delta.status !== 'applied') return small ? <span style={{ width: 28 }} /> : null;
  const name = t('rollback.openOf', { delta: delta.delta_id });
  return (
    <span onClick={(event) => event.stopPropagation()} onDoubleClick={(event) => event.stopPropagation()}>
      {small ? (
        <Tooltip label={t('rollback.open')}>
          <ActionIcon size={28} aria-label={name} onClick={() => setAsked(true)}>
            <IconArrowBackUp size={14} />
          </ActionIcon>
        </Tooltip>
      ) : (
        <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => setAsked(true)}>
          {t('rollback.open')}
        </Button>
      )}
      <RollbackDialog runId={delta.run_id} deltaId={delta.delta_id} opened={asked} onClose={() => setAsked(false)} />
    </span>
  );
}

type RollbackDialogProps = { runId: string; deltaId: string; opened: boolean; onClose: () => void };

/** A strict rollback: what will change, and what of others' work it overwrites. It can itself be undone. */
function RollbackDialog({ runId, deltaId, opened, onClose }: RollbackDialogProps) {
  const { t } = useTranslation('bank');
  const changed = useBankChanged();

  async function takeBack() {
    const { rollback_delta_id: made, restored_mem_ids: restored } = await rollBack(runId, deltaId);
    await changed();
    if (made === null) return notify(t('rollback.already'));
    undoable(t('rollback.done', { count: restored.length }), async () => {
      await rollBack(runId, made);
      await changed();
    });
  }

  return (
    <ImpactDialog
      opened={opened}
      onClose={onClose}
      title={t('rollback.title', { delta: shortId(deltaId) })}
      asked={{ key: ['learning', runId, deltaId], ask: (signal) => preview(runId, deltaId, signal) }}
      action={t('rollback.action')}
      danger
      size={900}
      onConfirm={takeBack}
    >
      {(told) => (
        <Stack gap="md">
          <Text size="sm">{t('rollback.strict')}</Text>
          <Overwritten preview={told} />
          <Panel title={t('rollback.changes')} flush>
            {told.changes.length === 0 && <Empty title={t('rollback.nothing')} />}
            <div className={classes['scroll']} tabIndex={0} role="group" aria-label={t('rollback.changes')}>
              <ul className="plain">
                {told.changes.map((change) => (
                  <Change key={change.mem_id} change={change} />
                ))}
              </ul>
            </div>
          </Panel>
        </Stack>
      )}
    </ImpactDialog>
  );
}

/** What was written since and will no longer stand. */
function Overwritten({ preview }: { preview: Preview }) {
  const { t } = useTranslation('bank');
  const count = preview.overwritten_mem_ids.length;
  const later = preview.later_delta_ids.filter((id) => id.startsWith(LEARNED));
  const since = preview.changes.filter((change) => change.written_since.length > 0);
  return (
    <>
      {count > 0 && (
        <div className={classes['notice']} data-tone="warn" role="alert">
          <IconAlertTriangle size={16} aria-hidden />
          <div className={classes['words']}>
            <strong>{t('rollback.overwrites', { count })}</strong>
            <ul>
              {since.map((change) =>
                change.written_since.map((write) => (
                  <li key={`${change.mem_id} ${write.version}`}>
                    <PageLink to={`/ui/rb/${encodeURIComponent(change.mem_id)}?tab=versions&v=${write.version}`}>
                      {`mem:${shortId(change.mem_id)}`}
                    </PageLink>
                    <span>
                      {!write.delta_id?.startsWith(LEARNED)
                        ? t('rollback.byHand', { version: write.version })
                        : t('rollback.byDelta', { version: write.version, delta: shortId(write.delta_id) })}
                    </span>
                    <TimeText at={write.created_at * 1_000} />
                  </li>
                )),
              )}
            </ul>
          </div>
        </div>
      )}
      {later.length > 0 && (
        <Text size="sm" component="div">
          {t('rollback.later')}
          {later.map((id) => (
            <div key={id}>
              <Ref reference={id} copy={false} />
            </div>
          ))}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('rollback.stays')}
      </Text>
    </>
  );
}

function Change({ change }: { change: Prospect }) {
  const { t } = useTranslation('bank');
  const hidden = change.op === 'remove';
  return (
    <li className={classes['op']}>
      <div className={classes['op-head']}>
        <Ref reference={`mem:${change.mem_id}`} copy={false}>{`mem:${shortId(change.mem_id)}`}</Ref>
        <span>{t(hidden ? 'rollback.remove' : 'rollback.restore')}</span>
      </div>
      <DiffPane
        before={change.now.content}
        after={hidden ? '' : change.then.content}
        names={[t('rollback.now'), t('rollback.then')]}
      />
    </li>
  );
}
