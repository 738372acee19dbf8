// A part of what is told about one thing, under a small heading.
import type { ReactNode } from 'react';
import classes from './Facts.module.css';

export function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={classes['part']}>
      <h3>{name}</h3>
      {children}
    </section>
  );
}
