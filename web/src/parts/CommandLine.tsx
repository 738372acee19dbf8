// A command to run in a terminal, ready to copy.
import { useTranslation } from 'react-i18next';
import { CopyButton } from './CopyButton';
import classes from './CommandLine.module.css';

export function CommandLine({ command }: { command: string }) {
  const { t } = useTranslation();
  return (
    <div className={classes['line']}>
      <code>{command}</code>
      <CopyButton value={command} label={t('command')} />
    </div>
  );
}
