// Every version of a memory: who wrote it, when and what changed; two of them side by side; and the ways back.
import { Badge, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconArrowBackUp, IconEraser, IconEye } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMemoriesChanged, type WholeMemory } from '@/api/life';
import { usePages } from '@/api/queries';
import type texts from '@/i18n/en/memory';
import { useActorName } from '@/parts/acts/LifeMarks';
import { IconAct } from '@/parts/IconAct';
import { UndoDialog } from '@/parts/acts/UndoDialog';
import { DiffPane } from '@/parts/DiffPane';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import { FieldChanges, useFieldName } from '@/parts/FieldChanges';
import { undo } from '@/api/undo';
import { ImpactDialog } from '@/parts/acts/ImpactDialog';
import { undoable } from '@/parts/undoable';
import {
  diffQuery,
  type PageState,
  type Pair,
  pairOf,
  rollBack,
  type SetPageState,
  type Version,
  versionPage,
  wayBack,
} from './queries';
import classes from './Memory.module.css';

type Props = { memory: WholeMemory; state: PageState; set: SetPageState };

const LEARNED = 'rbd_'; // a delta of the ReasoningBank, which is undone on its own page

export function VersionsTab({ memory, state, set }: Props) {
  const { t } = useTranslation(['memory', 'timeline']);
  const [wanted, setWanted] = useState<number | null>(null);
  const [undone, setUndone] = useState<string | null>(null);
  const { seq, version: current } = memory;
  // A new version is a new list: it begins with it.
  const list = usePages(['memory', 'versions', seq, current], (cursor) => versionPage(String(seq), cursor));
  const { query, rows, more, loadingMore } = list;
  const pair = pairOf(state.diff) ?? (current > 1 ? { before: current - 1, after: current } : null);
  return (
    <div className={`${classes['column']} column`}>
      <Panel title={t('versions.title')} state={query} flush>
        <VirtualRows
          rows={rows}
          keyOf={(row) => String(row.version)}
          label={t('versions.title')}
          height="calc(var(--cm-row) * 7)"
          selectedKey={pair ? String(pair.after) : null}
          onSelect={(row) => set({ diff: `${Math.max(row.version - 1, 1)}..${row.version}` }, { replace: true })}
          onOpen={(row) => set({ tab: 'text', v: row.version })}
          onEndReached={more}
          loadingMore={loadingMore}
          render={(row) => (
            <Line row={row} current={current}>
              <IconAct
                label={t('versions.view', { version: row.version })}
                icon={IconEye}
                size={24}
                run={() => set({ tab: 'text', v: row.version })}
              />
              {row.version !== current && (
                <IconAct
                  label={t('rollback.open', { version: row.version })}
                  icon={IconArrowBackUp}
                  size={24}
                  run={() => setWanted(row.version)}
                />
              )}
              {row.delta && !row.undone && !row.delta.startsWith(LEARNED) && (
                <IconAct
                  label={t('versions.undo', { version: row.version })}
                  icon={IconEraser}
                  size={24}
                  run={() => setUndone(row.delta)}
                />
              )}
            </Line>
          )}
        />
      </Panel>
      {pair ? (
        <Difference memory={memory} pair={pair} versions={rows} state={state} set={set} onRollback={setWanted} />
      ) : (
        <Panel label={t('diff.title')}>{t('versions.only')}</Panel>
      )}
      <RollbackDialog
        memory={memory}
        version={wanted}
        onClose={() => setWanted(null)}
        onDone={() => set({ diff: '' }, { replace: true })}
      />
      <UndoDialog
        opened={undone !== null}
        onClose={() => setUndone(null)}
        whose={{ delta: undone ?? '' }}
        title={t('timeline:undo.change')}
      />
    </div>
  );
}

function Line({ row, current, children }: { row: Version; current: number; children: ReactNode }) {
  const { t, i18n } = useTranslation('memory');
  const fieldName = useFieldName();
  const actorName = useActorName();
  const op = i18n.exists(`memory:ops.${row.op}`) ? t(`ops.${row.op as keyof typeof texts.ops}`) : row.op;
  const fields = row.changed.map(fieldName).join(t('versions.comma'));
  return (
    <div className="row grow gap12">
      <span className={classes['number']}>{t('version', { version: row.version })}</span>
      <span className="cut grow" title={row.note}>
        {op}
        {fields && <span className="muted"> {fields}</span>}
      </span>
      {row.delta?.startsWith(LEARNED) && (
        <Ref reference={row.delta} copy={false}>
          {t('versions.learned')}
        </Ref>
      )}
      {row.undone && <Badge color="slate">{t('versions.undone')}</Badge>}
      {row.version === current && <Badge color="green">{t('versions.now')}</Badge>}
      <span className={`${classes['who']} cut`}>{actorName(row.actor)}</span>
      <span className={classes['when']}>
        <TimeText at={row.created_ms} />
      </span>
      <Group gap={2} wrap="nowrap" w={78}>
        {children}
      </Group>
    </div>
  );
}

type DiffProps = Props & { pair: Pair; versions: readonly Version[]; onRollback: (version: number) => void };

/** Any two versions, side by side or one below the other. */
function Difference({ memory, pair, versions, state, set, onRollback }: DiffProps) {
  const { t } = useTranslation('memory');
  const query = useQuery(diffQuery(String(memory.seq), pair.before, pair.after));
  const names = [t('version', { version: pair.before }), t('version', { version: pair.after })] as const;
  // The older of the two that is not what stands now: that is where one would want to go back to.
  const target = [pair.before, pair.after].sort((a, b) => a - b).find((each) => each !== memory.version);
  const numbers = new Set([...versions.map((each) => each.version), pair.before, pair.after]);
  const choices = [...numbers]
    .sort((a, b) => b - a)
    .map((each) => ({ value: String(each), label: t('version', { version: each }) }));
  return (
    <Panel title={t('diff.title')} flush>
      <div className={classes['pair']}>
        {(['before', 'after'] as const).map((side) => (
          <Select
            key={side}
            w={110}
            label={t(`diff.${side}`)}
            data={choices}
            value={String(pair[side])}
            onChange={(value) => {
              const next = { ...pair, [side]: Number(value ?? pair[side]) };
              set({ diff: `${next.before}..${next.after}` });
            }}
            allowDeselect={false}
          />
        ))}
      </div>
      <Panel state={query} label={t('diff.content')} className={classes['bare'] ?? ''}>
        {(told) => (
          <>
            {told.before.content === told.after.content && told.changes.length > 0 ? (
              <p className="muted">{t('diff.sameContent')}</p>
            ) : (
              <div className={classes['scroll']}>
                <DiffPane
                  before={told.before.content}
                  after={told.after.content}
                  names={names}
                  {...(state.mode ? { mode: state.mode } : {})}
                  onMode={(mode) => set({ mode }, { replace: true })}
                />
              </div>
            )}
            <FieldChanges changes={told.changes} names={names} />
          </>
        )}
      </Panel>
      {target !== undefined && (
        <div className={classes['foot']}>
          <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => onRollback(target)}>
            {t('rollback.open', { version: target })}
          </Button>
          <span>{t('rollback.makes', { version: memory.version + 1 })}</span>
        </div>
      )}
    </Panel>
  );
}

type RollbackDialogProps = { memory: WholeMemory; version: number | null; onClose: () => void; onDone: () => void };

/**
 * Going back to an earlier version: first what would change, then, if it is wanted, a new version that says the same.
 */
export function RollbackDialog({ memory, version, onClose, onDone }: RollbackDialogProps) {
  const { t } = useTranslation('memory');
  const changed = useMemoriesChanged();
  const ref = String(memory.seq);
  const to = version ?? memory.version;
  const made = memory.version + 1;

  async function goBack() {
    const { delta } = await rollBack(ref, to, memory.version);
    await changed();
    onDone();
    undoable(t('rollback.done', { version: to, made }), async () => {
      if (delta !== null) await undo({ delta }, 'safe');
      await changed();
    });
  }

  return (
    <ImpactDialog
      opened={version !== null}
      onClose={onClose}
      title={t('rollback.title', { version: to })}
      asked={{ key: ['rollback', ref, to, memory.version], ask: (signal) => wayBack(ref, to, signal) }}
      action={t('rollback.confirm', { version: to })}
      size="xl"
      onConfirm={goBack}
    >
      {({ before, after, changes }) => (
        <Stack gap="sm">
          <Text size="sm">{t('rollback.impact', { version: to, made })}</Text>
          <div className={classes['scroll']}>
            <DiffPane
              before={before.content}
              after={after.content}
              names={[t('rollback.now', { version: memory.version }), t('rollback.then', { version: made })]}
            />
          </div>
          <FieldChanges changes={changes} names={[t('rollback.nowShort'), t('rollback.thenShort')]} />
        </Stack>
      )}
    </ImpactDialog>
  );
}
