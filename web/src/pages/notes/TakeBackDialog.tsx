// Taking back everything a delta wrote: first what would change, and whether others have written there since.
import { Checkbox, List, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { Panel } from '@/parts/Panel';
import { notify, undoable } from '@/parts/undoable';
import { takeBackQuery } from './queries';
import { useKindName } from './useKindName';
import { takeBack } from './writes';

export function TakeBackDialog({ delta, onClose }: { delta: string | null; onClose: () => void }) {
  const { t } = useTranslation('notes');
  const client = useQueryClient();
  const [strict, setStrict] = useState(false);
  useEffect(() => setStrict(false), [delta]);

  async function confirm(id: string) {
    const done = await takeBack(id, strict ? 'strict' : 'safe');
    // Memories of every kind may have changed.
    await client.invalidateQueries();
    const { into } = done;
    const told = t('takeBack.done', { count: done.restored, left: done.left });
    if (into === null) notify(told);
    else
      undoable(told, async () => {
        await takeBack(into, 'safe');
        await client.invalidateQueries();
      });
  }

  return (
    <ConfirmDialog
      opened={delta !== null}
      onClose={onClose}
      title={t('takeBack.title')}
      impact={delta === null ? null : <Impact delta={delta} strict={strict} setStrict={setStrict} />}
      action={t('takeBack.confirm')}
      onConfirm={() => (delta === null ? Promise.resolve() : confirm(delta))}
    />
  );
}

type ImpactProps = { delta: string; strict: boolean; setStrict: (strict: boolean) => void };

function Impact({ delta, strict, setStrict }: ImpactProps) {
  const { t } = useTranslation('notes');
  const kindName = useKindName();
  const query = useQuery(takeBackQuery(delta));
  return (
    <Panel state={query} label={t('takeBack.impactLabel')}>
      {(told) => (
        <Stack gap="sm">
          <Text size="sm">{t('takeBack.impact', { count: told.memories })}</Text>
          <List size="sm" spacing={4}>
            {told.first.map((each) => (
              <List.Item key={each.seq}>
                {t(each.op === 'delete' ? 'takeBack.hides' : 'takeBack.restores', {
                  kind: kindName(each.kind),
                  title: each.title,
                })}
              </List.Item>
            ))}
          </List>
          {told.written_since > 0 && (
            <Checkbox
              label={t('takeBack.strict', { count: told.written_since })}
              checked={strict}
              onChange={(event) => setStrict(event.currentTarget.checked)}
            />
          )}
          <Text size="sm" c="dimmed">
            {t('takeBack.kept')}
          </Text>
        </Stack>
      )}
    </Panel>
  );
}
