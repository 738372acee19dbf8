// What a run has answered, readable whatever the profile's schema is; citations open their sources.
import { Alert, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Empty, Panel } from '@/parts/Panel';
import { Citation } from './Cited';
import { OutputValue, fieldName } from './OutputValue';
import { ended, useOutput, type Run } from '@/api/lab';
import type { RunState, SetRunState } from './runState';
import { SourceDrawer } from './SourceDrawer';

type Props = { run: Run | undefined; runId: string; dryRun: boolean; state: RunState; set: SetRunState };

export function OutputTab({ run, runId, dryRun, state, set }: Props) {
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
