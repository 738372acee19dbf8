// The line under a note's address: the address to copy, importance, status, version and who wrote last.
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { PriorityBadge } from './PriorityBadge';
import type { Note } from './queries';
import classes from './Note.module.css';

export function NoteFacts({ note }: { note: Note }) {
  const { t } = useTranslation('notes');
  return (
    <span className={classes['facts']}>
      <CopyButton value={note.uri} label={t('address')} />
      <PriorityBadge priority={note.priority} />
      <StatusMark status={note.status} />
      <span>{t('version', { version: note.version })}</span>
      {note.updated_by && <span>{t('by', { who: note.updated_by })}</span>}
      <TimeText at={note.updated_ms} />
    </span>
  );
}
