// What differs between two texts, side by side or one below the other.
import { SegmentedControl, Skeleton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './DiffPane.module.css';

const Drawing = lazy(() => import('./DiffDrawing').then((module) => ({ default: module.DiffDrawing })));

export type DiffMode = 'split' | 'unified';
type Props = {
  before: string;
  after: string;
  /** What the two are called: ["v2", "v3"]. */
  names: readonly [string, string];
  /** Given where the address keeps it; else the pane keeps it itself. */
  mode?: DiffMode;
  onMode?: (mode: DiffMode) => void;
};

export function DiffPane({ before, after, names, mode, onMode }: Props) {
  const { t } = useTranslation();
  const [own, setOwn] = useState<DiffMode>(() => (innerWidth < 768 ? 'unified' : 'split'));
  const shown = mode ?? own;
  const [left, right] = names;
  const label = t('diffOf', { before: left, after: right });
  return (
    <div className={classes['pane']}>
      <div className={classes['head']}>
        <span>
          <span className="err">− {left}</span> <span className={classes['right']}>+ {right}</span>
        </span>
        <SegmentedControl
          value={shown}
          onChange={(value) => (onMode ?? setOwn)(value as DiffMode)}
          aria-label={label}
          data={[
            { value: 'split', label: t('split') },
            { value: 'unified', label: t('unified') },
          ]}
        />
      </div>
      {before === after ? (
        <p className={classes['equal']}>{t('equal')}</p>
      ) : (
        <Suspense fallback={<Skeleton h={120} />}>
          <Drawing before={before} after={after} mode={shown} label={label} />
        </Suspense>
      )}
    </div>
  );
}
