// A small line of how a figure went; its name says what it is, the figure beside it what it is now.
import { sparkPoints } from './figures';
import classes from './Spark.module.css';

const WIDTH = 120;
const HEIGHT = 24;

export function Spark({ values, label, tone }: { values: readonly number[]; label: string; tone: 1 | 2 | 3 }) {
  const points = sparkPoints(values.length > 1 ? values : [0, 0], WIDTH, HEIGHT);
  return (
    <svg
      className={classes['spark']}
      viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} fill={`var(--cm-chart-${tone})`} opacity="0.14" />
      <polyline
        points={points}
        fill="none"
        stroke={`var(--cm-chart-${tone})`}
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
