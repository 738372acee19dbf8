// Text that nobody has vetted: shown as text, spaces and lines kept. Long text is cut, with a way to the whole of it.
import { Button, Group } from '@mantine/core';
import { Fragment, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { saveAs } from '@/api/client';
import { localeTag } from '@/i18n';
import { addressesIn } from './addresses';
import { CopyButton } from './CopyButton';
import { memoryPage } from './reference';
import { TextLink } from './TextLink';
import classes from './TextBlock.module.css';

export const SHOWN = 20_000; // characters

type Props = {
  text: string;
  name?: string;
  mono?: boolean;
  copy?: boolean;
  /** Addresses of notes in it lead to them. */
  links?: boolean;
};

/** The first `SHOWN` characters, never half of a surrogate pair. */
export function shortened(text: string): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(SHOWN - 1)) ? SHOWN - 1 : SHOWN;
  return text.slice(0, end);
}

export function TextBlock({ text, name = 'text.txt', mono = false, copy = false, links = false }: Props) {
  const { t, i18n } = useTranslation();
  const [whole, setWhole] = useState(false);
  const long = text.length > SHOWN;
  const shown = long && !whole ? `${shortened(text)}…` : text;
  const count = text.length.toLocaleString(localeTag(i18n.language));
  return (
    <div className={classes['block']}>
      {copy && (
        <div className={classes['copy']}>
          <CopyButton value={text} label={t('text')} />
        </div>
      )}
      <div className={classes['text']} data-mono={mono || undefined} dir="auto">
        {links ? <Linked text={shown} /> : shown}
      </div>
      {long && (
        <Group gap="sm" mt="sm">
          <Button variant="default" onClick={() => setWhole(!whole)}>
            {whole ? t('showLess') : t('showAll', { characters: count })}
          </Button>
          <Button variant="default" onClick={() => saveAs(new Blob([text], { type: 'text/plain' }), name)}>
            {t('download')}
          </Button>
        </Group>
      )}
    </div>
  );
}

function Linked({ text }: { text: string }) {
  return addressesIn(text).map((piece, at) =>
    piece.address ? (
      <TextLink key={at} to={memoryPage(piece.text) ?? '#'}>
        {piece.text}
      </TextLink>
    ) : (
      <Fragment key={at}>{piece.text}</Fragment>
    ),
  );
}
