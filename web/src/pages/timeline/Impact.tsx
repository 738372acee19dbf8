// The first of the memories that something would touch.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { KindMark } from './KindMark';
import type { MemoryKind } from './queries';
import classes from './Timeline.module.css';

export type Touched = { seq: number; kind: MemoryKind; title: string; effect?: ReactNode };

export function Impact({ label, touched }: { label: string; touched: readonly Touched[] }) {
  return (
    <ul className={classes['impact']} aria-label={label}>
      {touched.map(({ seq, kind, title, effect }) => (
        <li key={seq}>
          <KindMark kind={kind} bare />
          <span className={classes['impactTitle']} dir="auto">
            {title}
          </span>
          {effect && (
            <Text span size="xs" c="dimmed">
              {effect}
            </Text>
          )}
        </li>
      ))}
    </ul>
  );
}
