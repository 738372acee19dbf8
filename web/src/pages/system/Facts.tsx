// Names and values of one panel, side by side.
import type { ReactNode } from 'react';
import classes from './System.module.css';

export function Facts({ children }: { children: ReactNode }) {
  return <dl className={classes['facts']}>{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
