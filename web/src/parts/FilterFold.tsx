// What narrows a list. On a narrow screen only the words to search by stand there; the rest waits behind one button,
// so that the list itself begins in the upper third.
import { Badge, Button } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './FilterFold.module.css';

type Props = {
  /** What the folded filters are set to; those that are not empty are counted on the button. */
  values: readonly unknown[];
  /** What is never folded: the search field. */
  lead?: ReactNode;
  /** A box around it, where it stands alone between tabs and a list. */
  boxed?: boolean;
  children: ReactNode;
};

export function FilterFold({ values, lead, boxed, children }: Props) {
  const { t } = useTranslation();
  const id = useId();
  const [open, setOpen] = useState(false);
  const active = values.filter(Boolean).length;
  return (
    <search aria-label={t('filters')} className={classes['bar']} data-boxed={boxed || undefined}>
      {lead}
      <Button
        className={classes['toggle']}
        variant="default"
        leftSection={<IconFilter size={14} aria-hidden />}
        rightSection={active > 0 ? <Badge color="blue">{active}</Badge> : null}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {t('filters')}
      </Button>
      <div id={id} className={classes['fields']} data-open={open || undefined}>
        {children}
      </div>
    </search>
  );
}
