// Names and values about one thing: one below the other, or as tiles where they are short.
import type { ReactNode } from 'react';
import classes from './Facts.module.css';

type Props = { facts?: readonly (readonly [string, ReactNode])[]; tiles?: boolean; children?: ReactNode };

/** A value that is null or an empty text is left out with its name. */
export function Facts({ facts = [], tiles = false, children }: Props) {
  return (
    <dl className={classes['facts']} data-tiles={tiles || undefined}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
