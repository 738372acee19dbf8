// Text with its citations as links that open their sources.
import { Anchor } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { segments } from './citations';
import classes from './Cited.module.css';

type Props = {
  text: string;
  onOpen: (name: string) => void;
  /** The names that lead somewhere; all of them if it is left out. */
  known?: ReadonlySet<string>;
};

export function Cited({ text, onOpen, known }: Props) {
  const parts = useMemo(() => segments(text), [text]);
  return (
    <span className={classes['text']} dir="auto">
      {parts.map(({ text: said, cites }, index) =>
        cites && (!known || known.has(cites)) ? (
          <Citation key={index} name={cites} onOpen={onOpen} />
        ) : (
          <span key={index}>{said}</span>
        ),
      )}
    </span>
  );
}

/** A source by its name, C12 or mem:…, with a long id shortened for the eye. */
export function Citation({ name, onOpen }: { name: string; onOpen: (name: string) => void }) {
  const { t } = useTranslation('lab');
  return (
    <Anchor
      component="button"
      type="button"
      className={classes['mark']}
      aria-label={t('output.openCitation', { name })}
      title={name}
      onClick={() => onOpen(name)}
    >
      {name.length > 16 ? `${name.slice(0, 12)}…` : name}
    </Anchor>
  );
}
