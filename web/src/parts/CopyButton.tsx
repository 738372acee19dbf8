// Copies a value; says so to eye and ear.
import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './CopyButton.module.css';

type Props = {
  value: string;
  /** What is copied, as part of the button's name: "id", "command". */
  label: string;
};

/** Where the clipboard is not offered (a page over plain HTTP), the selection does it. */
export async function copyText(value: string) {
  if (navigator.clipboard) return navigator.clipboard.writeText(value);
  const area = document.createElement('textarea');
  area.value = value;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CopyButton({ value, label }: Props) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const name = copied ? t('copied') : t('copy', { what: label });
  return (
    <ActionIcon
      size={24}
      aria-label={name}
      title={name}
      aria-live="polite"
      onClick={(event) => {
        event.stopPropagation();
        void copyText(value).then(() => setCopied(true));
      }}
    >
      {copied ? <IconCheck size={14} color="var(--cm-ok)" /> : <IconCopy size={14} />}
    </ActionIcon>
  );
}

/** A value as machines write it, with the button that copies it. */
export function Copied({ value, label }: Props) {
  return (
    <span className={classes['copied']}>
      <code title={value}>{value}</code>
      <CopyButton value={value} label={label} />
    </span>
  );
}
