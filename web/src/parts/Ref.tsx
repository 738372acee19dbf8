// A reference to a memory, run, batch or delta: a link to its page, and a button that copies it.
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './CopyButton';
import { pageOf } from './reference';
import classes from './Ref.module.css';

type Props = { reference: string; copy?: boolean; children?: React.ReactNode };

export function Ref({ reference, copy = true, children }: Props) {
  const { t } = useTranslation();
  const page = pageOf(reference);
  return (
    <span className={classes['ref']}>
      {page ? (
        <PageLink to={page}>{children ?? reference}</PageLink>
      ) : (
        <span className={`${classes['name']} cut`}>{children ?? reference}</span>
      )}
      {copy && <CopyButton value={reference} label={t('id')} />}
    </span>
  );
}

/** A link to any address inside the application. */
export function PageLink({ to, children }: { to: string; children: React.ReactNode }) {
  const [path = '', query = ''] = to.split('?');
  return (
    <Anchor
      className={`${classes['name']} cut`}
      renderRoot={(props) => (
        <Link {...props} to={path} search={Object.fromEntries(new URLSearchParams(query)) as never} />
      )}
    >
      {children}
    </Anchor>
  );
}
