// A JSON value as a tree that opens where it is looked at; only what is open is in the page.
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './CopyButton';
import { SHOWN, shortened } from './TextBlock';
import classes from './JsonView.module.css';

type Props = { value: unknown; /** How many levels are open at first. */ depth?: number };

const PART = 100; // entries of a long list that are shown at a time

export function JsonView({ value, depth = 2 }: Props) {
  const { t } = useTranslation();
  return (
    <div className={classes['view']}>
      <div className={classes['copy']}>
        <CopyButton value={JSON.stringify(value, null, 2) ?? ''} label={t('json')} />
      </div>
      <Node name={null} value={value} depth={depth} />
    </div>
  );
}

function entriesOf(value: unknown): [string, unknown][] | null {
  if (Array.isArray(value)) return value.map((each, index) => [String(index), each]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : null;
}

function Node({ name, value, depth }: { name: string | null; value: unknown; depth: number }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(depth > 0);
  const [shown, setShown] = useState(PART);
  const entries = entriesOf(value);
  const label = name !== null && <span className="info">{name}: </span>;
  if (!entries?.length) {
    return (
      <div className={classes['leaf']}>
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  const what = name ?? t('json');
  return (
    <div>
      <button
        type="button"
        className={classes['toggle']}
        aria-expanded={open}
        title={open ? t('collapse', { what }) : t('expand', { what })}
        onClick={() => setOpen(!open)}
      >
        {open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
        {label}
        <span className="muted">{size}</span>
      </button>
      {open && (
        <div className={classes['inside']}>
          {entries.slice(0, shown).map(([key, each]) => (
            <Node key={key} name={key} value={each} depth={depth - 1} />
          ))}
          {entries.length > shown && (
            <button type="button" className={classes['toggle']} onClick={() => setShown(shown + PART)}>
              +{entries.length - shown}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    const text = value.length > SHOWN ? `${shortened(value)}…` : value;
    return <span className={classes['string']}>{JSON.stringify(text)}</span>;
  }
  return <span className={classes['plain']}>{JSON.stringify(value) ?? 'undefined'}</span>;
}
