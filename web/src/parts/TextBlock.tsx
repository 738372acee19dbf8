// Text that nobody has vetted: shown as text, spaces and lines kept. Long text is cut, with a way to the whole of it.
import { Button, Group } from '@mantine/core';
import { Fragment, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { saveAs } from '@/api/client';
import { localeTag } from '@/i18n';
import { addressesIn, codeIn } from './addresses';
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
  /** Addresses of notes in it lead to them and, unless all of it does, pieces of code look like code. */
  links?: boolean;
  /** How the beginning of a long text is drawn until all of it is shown. */
  beginning?: ReactNode;
};

/** The first `SHOWN` characters, never half of a surrogate pair. */
export function shortened(text: string): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(SHOWN - 1)) ? SHOWN - 1 : SHOWN;
  return text.slice(0, end);
}

export function TextBlock(props: Props) {
  const { text, name = 'text.txt', mono = false, copy = false, links = false, beginning } = props;
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
      {beginning && !whole ? (
        beginning
      ) : (
        <div className={classes['text']} data-mono={mono || undefined} dir="auto">
          {!links ? shown : mono ? <Addresses text={shown} /> : <Linked text={shown} />}
        </div>
      )}
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

/** Words with the links and the pieces of code in them. */
export function Linked({ text }: { text: string }) {
  return codeIn(text).map((piece, at) =>
    piece.code ? (
      <code key={at}>
        <Addresses text={piece.text} />
      </code>
    ) : (
      <Addresses key={at} text={piece.text} />
    ),
  );
}

function Addresses({ text }: { text: string }) {
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
