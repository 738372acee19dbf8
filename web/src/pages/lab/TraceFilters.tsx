// What of a trace is shown: how important, which types, failures only, words.
import { Button, Group, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import type { RunState, SetRunState } from './runState';
import { LEVELS } from './traceView';
import { useTyped } from '@/parts/useTyped';
import { useTypeName } from './useTypeName';
import classes from './Trace.module.css';

type Props = {
  counts: readonly (readonly [string, number])[];
  chosen: ReadonlySet<string>;
  state: RunState;
  set: SetRunState;
};

export function TraceFilters({ counts, chosen, state, set }: Props) {
  const { t, i18n } = useTranslation('lab');
  const typeName = useTypeName();
  const [typed, setTyped] = useTyped(state.q, (q) => set({ q }, { replace: true }));
  // A type from the address is shown also where no event of it has come yet.
  const absent = [...chosen].filter((type) => !counts.some(([each]) => each === type));
  const listed = [...counts, ...absent.map((type) => [type, 0] as const)];
  const toggle = (type: string) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    set({ type: [...next].sort().join(',') });
  };
  return (
    <div className={classes['filters']}>
      <Group gap="sm">
        <SegmentedControl
          aria-label={t('trace.level')}
          value={state.level}
          onChange={(level) => set({ level: LEVELS.find((each) => each === level) ?? 'steps' })}
          data={LEVELS.map((level) => ({ value: level, label: t(`trace.levels.${level}`) }))}
        />
        <Switch
          label={t('trace.failedOnly')}
          checked={state.failed}
          onChange={(event) => set({ failed: event.currentTarget.checked })}
        />
        <TextInput
          type="search"
          aria-label={t('trace.search')}
          placeholder={t('trace.search')}
          leftSection={<IconSearch size={14} />}
          w={200}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Group>
      <Group gap={4} role="group" aria-label={t('trace.types')}>
        {listed.map(([type, count]) => (
          <Button
            key={type}
            size="compact-xs"
            variant={chosen.has(type) ? 'filled' : 'default'}
            className={classes['chip']}
            aria-pressed={chosen.has(type)}
            title={type}
            onClick={() => toggle(type)}
          >
            {typeName(type)}
            <span className={classes['count']}>{count.toLocaleString(localeTag(i18n.language))}</span>
          </Button>
        ))}
      </Group>
    </div>
  );
}
