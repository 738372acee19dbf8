// Everything that a lesson has said, hand edits too, and what changed from one version to another.
import { Badge, SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePages } from '@/api/queries';
import { DiffPane } from '@/parts/DiffPane';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { SplitView } from '@/parts/SplitView';
import { StatusMark } from '@/parts/StatusMark';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import type { LessonPageState, SetLessonPageState } from './lessonState';
import { OPS, versionPage, type Lesson, type LessonVersion } from './queries';
import { shortId } from './shortId';
import { StateChanges } from './StateChanges';
import classes from './Bank.module.css';

type Props = { lesson: Lesson; state: LessonPageState; set: SetLessonPageState };

const ROW = 44;

export function LessonVersions({ lesson, state, set }: Props) {
  const { t } = useTranslation('bank');
  // A new version is a new list: it begins with it.
  const key = useMemo(() => ['bank', 'versions', lesson.mem_id, lesson.version], [lesson.mem_id, lesson.version]);
  const list = usePages(key, (cursor) => versionPage(lesson.mem_id, cursor));
  const chosen = list.rows.find((row) => row.version === state.v) ?? list.rows[0];
  return (
    <SplitView
      chosen={state.v !== null}
      onBack={() => set({ v: null })}
      left={
        <Panel title={t('versions.title')} state={list.query} flush>
          <VirtualRows
            rows={list.rows}
            keyOf={(row) => String(row.version)}
            label={t('versions.title')}
            rowHeight={ROW}
            height={`min(60vh, ${list.rows.length * ROW}px)`}
            selectedKey={chosen ? String(chosen.version) : null}
            onSelect={(row) => set({ v: row.version }, { replace: true })}
            onEndReached={list.more}
            loadingMore={list.loadingMore}
            render={(row) => <VersionLine row={row} current={lesson.version} />}
          />
        </Panel>
      }
      right={chosen && <Version chosen={chosen} rows={list.rows} state={state} set={set} />}
    />
  );
}

function VersionLine({ row, current }: { row: LessonVersion; current: number }) {
  const { t } = useTranslation('bank');
  const op = OPS.find((each) => each === row.op);
  return (
    <div className={classes['row']} style={{ flexWrap: 'nowrap' }}>
      <strong>{t('versions.version', { version: row.version })}</strong>
      <span className={classes['grow']} style={{ flexBasis: 0 }}>
        {op ? t(`ops.${op}`) : row.op}
      </span>
      {row.version === current && <Badge color="green">{t('versions.now')}</Badge>}
      {row.delta_id === null && <Badge color="yellow">{t('versions.hand')}</Badge>}
      <span className={classes['age']}>
        <TimeText at={row.created_at * 1_000} />
      </span>
    </div>
  );
}

type VersionProps = Omit<Props, 'lesson'> & { chosen: LessonVersion; rows: readonly LessonVersion[] };

function Version({ chosen, rows, state, set }: VersionProps) {
  const { t } = useTranslation('bank');
  const newest = rows[0];
  const other = state.with === 'current' ? newest : rows.find((row) => row.version === chosen.version - 1);
  const name = t('versions.version', { version: chosen.version });
  return (
    <Panel
      title={name}
      actions={
        <SegmentedControl
          aria-label={t('versions.compare')}
          value={state.with}
          onChange={(value) => set({ with: value === 'current' ? 'current' : 'before' }, { replace: true })}
          data={[
            { value: 'before', label: t('versions.before') },
            { value: 'current', label: t('versions.current') },
          ]}
        />
      }
    >
      <div className={classes['op-head']}>
        <StatusMark status={chosen.status} />
        <span className={classes['muted']}>{chosen.role}</span>
        <span className={classes['muted']}>{t('versions.by', { actor: chosen.actor })}</span>
        {chosen.delta_id && <Ref reference={chosen.delta_id}>{shortId(chosen.delta_id)}</Ref>}
        <TimeText at={chosen.created_at * 1_000} />
      </div>
      {chosen.title && <strong>{chosen.title}</strong>}
      <div className={classes['added']}>
        <TextBlock text={chosen.content} copy />
      </div>
      <h3 className={classes['part']}>{t('versions.difference')}</h3>
      {other === undefined ? (
        <p className={classes['muted']}>{t('versions.first')}</p>
      ) : (
        <Difference
          before={other.version < chosen.version ? other : chosen}
          after={other.version < chosen.version ? chosen : other}
        />
      )}
    </Panel>
  );
}

function Difference({ before, after }: { before: LessonVersion; after: LessonVersion }) {
  const { t } = useTranslation('bank');
  const name = ({ version }: LessonVersion) => t('versions.version', { version });
  const names = [name(before), name(after)] as const;
  return (
    <>
      <DiffPane before={before.content} after={after.content} names={names} />
      <StateChanges before={before} after={after} names={names} />
    </>
  );
}
