// A strict rollback: what will change, and what of others' work it overwrites. It can itself be undone.
import { Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { DiffPane } from '@/parts/DiffPane';
import { Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { notify, undoable } from '@/parts/undoable';
import { previewQuery, rollBack, useBankChanged, type Preview, type Prospect } from './queries';
import { shortId } from './shortId';
import classes from './Bank.module.css';

type Props = { runId: string; deltaId: string; opened: boolean; onClose: () => void };

export function RollbackDialog({ runId, deltaId, opened, onClose }: Props) {
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
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t('rollback.title', { delta: shortId(deltaId) })}
      impact={opened ? <Impact runId={runId} deltaId={deltaId} /> : null}
      action={t('rollback.action')}
      size={900}
      onConfirm={takeBack}
    />
  );
}

function Impact({ runId, deltaId }: { runId: string; deltaId: string }) {
  const { t } = useTranslation('bank');
  const query = useQuery(previewQuery(runId, deltaId));
  return (
    <Stack gap="md">
      <Text size="sm">{t('rollback.strict')}</Text>
      {query.data && <Overwritten preview={query.data} />}
      <Panel
        title={t('rollback.changes')}
        flush
        state={query}
        isEmpty={(told) => !told.changes.length}
        empty={{ title: t('rollback.nothing') }}
      >
        {(told) => (
          <div className={classes['scroll']} tabIndex={0} role="group" aria-label={t('rollback.changes')}>
            <ul className={classes['ops']}>
              {told.changes.map((change) => (
                <Change key={change.mem_id} change={change} />
              ))}
            </ul>
          </div>
        )}
      </Panel>
    </Stack>
  );
}

/** What was written since and will no longer stand. */
function Overwritten({ preview }: { preview: Preview }) {
  const { t } = useTranslation('bank');
  const count = preview.overwritten_mem_ids.length;
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
                      {write.delta_id === null
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
      {preview.later_delta_ids.length > 0 && (
        <Text size="sm" component="div">
          {t('rollback.later')}
          {preview.later_delta_ids.map((id) => (
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
