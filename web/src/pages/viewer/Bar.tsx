// A bar in parts that lie beside one another: figures to the eye, a sentence to the ear.
import classes from './Bar.module.css';

export type Part = { name: string; value: number; tone: 1 | 2 | 3 | 4 | 5 | 6 };

type Props = {
  parts: readonly Part[];
  /** What the bar says, in a sentence. */
  label: string;
  /** The sum that fills the width, if not that of the parts. A bar that is longer is cut and ends in a notch. */
  full?: number;
  tall?: boolean;
};

export function Bar({ parts, label, full, tall = false }: Props) {
  const sum = parts.reduce((total, { value }) => total + value, 0);
  const width = full ?? sum;
  const cut = sum > width * 1.001;
  let left = width;
  return (
    <div className={classes['bar']} role="img" aria-label={label} title={label} data-tall={tall || undefined}>
      {parts.map(({ name, value, tone }) => {
        const shown = Math.max(0, Math.min(value, left));
        left -= shown;
        if (width <= 0 || shown / width < 0.002) return null;
        const style = { width: `${(shown / width) * 100}%`, background: `var(--cm-chart-${tone})` };
        return <span key={name} data-part={name} data-tone={tone} style={style} />;
      })}
      {cut && <span className={classes['notch']} data-part="cut" />}
    </div>
  );
}

/** What the colours and patterns of bars mean. */
export function Legend({
  parts,
}: {
  parts: readonly { name: string; label: string; tone: Part['tone']; detail?: string }[];
}) {
  return (
    <ul className={`${classes['legend']} plain`}>
      {parts.map(({ name, label, tone, detail }) => (
        <li key={name}>
          <span
            className={classes['key']}
            data-tone={tone}
            style={{ background: `var(--cm-chart-${tone})` }}
            aria-hidden
          />
          <span>{label}</span>
          {detail && <span className="muted">{detail}</span>}
        </li>
      ))}
    </ul>
  );
}
