// What speaks for a result and against it, in one bar that can be compared with those above and below it.
import { useTranslation } from 'react-i18next';
import { decimal, segmentsOf, type Extent, type Shares } from './figures';
import classes from './ShareBar.module.css';

const TONES = { lexical: 1, vector: 3, boost: 2 } as const;

export function ShareBar({ shares, extent }: { shares: Shares; extent: Extent }) {
  const { t, i18n } = useTranslation('viewer');
  const write = (share: number) => decimal(share, i18n.language);
  const label = t('traces.bar', {
    lexical: write(shares.lexical),
    vector: write(shares.vector),
    boost: write(shares.boost),
  });
  return (
    <div className={classes['bar']} role="img" aria-label={label} title={label}>
      {segmentsOf(shares, extent).map(({ group, start, length, negative }) => (
        <span
          key={group}
          data-group={group}
          data-negative={negative || undefined}
          style={{
            insetInlineStart: `${start}%`,
            width: `${length}%`,
            backgroundColor: `var(--cm-chart-${TONES[group]})`,
          }}
        />
      ))}
      {extent.below > 0 && (
        <span
          className={classes['zero']}
          style={{ insetInlineStart: `${(extent.below / (extent.above + extent.below)) * 100}%` }}
        />
      )}
    </div>
  );
}
