// A status by icon, word and colour, never by colour alone.
import {
  IconAlertTriangle,
  IconArchive,
  IconArrowBackUp,
  IconBan,
  IconCircle,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClockOff,
  IconEyeOff,
  IconLoader,
  IconMessageOff,
  IconPin,
  IconQuestionMark,
  IconReplace,
  IconTrash,
  IconUserQuestion,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import type common from '@/i18n/en/common';
import classes from './StatusMark.module.css';

export type Status = keyof typeof common.status;
type Tone = 'ok' | 'warn' | 'err' | 'info' | 'muted';

const MARKS: Record<Status, readonly [ComponentType<{ size: number; 'aria-hidden': boolean }>, Tone]> = {
  queued: [IconCircle, 'muted'],
  pending: [IconCircle, 'muted'],
  running: [IconLoader, 'info'],
  completed: [IconCircleCheck, 'ok'],
  done: [IconCircleCheck, 'ok'],
  failed: [IconCircleX, 'err'],
  canceled: [IconBan, 'muted'],
  canceling: [IconBan, 'warn'],
  degraded: [IconAlertTriangle, 'warn'],
  candidate: [IconCircleDashed, 'info'],
  active: [IconCircleCheck, 'ok'],
  open: [IconLoader, 'info'], // a session that goes on
  validated: [IconCircleCheck, 'ok'],
  deprecated: [IconAlertTriangle, 'warn'],
  expired: [IconClockOff, 'muted'],
  archived: [IconArchive, 'muted'],
  deleted: [IconTrash, 'muted'],
  quarantined: [IconAlertTriangle, 'warn'],
  proposed: [IconUserQuestion, 'warn'],
  superseded: [IconReplace, 'muted'],
  hidden: [IconEyeOff, 'muted'],
  undone: [IconArrowBackUp, 'muted'],
  pinned: [IconPin, 'info'],
  dismissed: [IconTrash, 'muted'],
  corrected: [IconCircleCheck, 'info'],
  rewritten: [IconReplace, 'warn'],
  withheld: [IconMessageOff, 'warn'],
  rejected: [IconCircleX, 'err'],
  allow: [IconCircleCheck, 'ok'],
  deny: [IconCircleX, 'err'],
  ask: [IconQuestionMark, 'info'],
  ok: [IconCircleCheck, 'ok'],
  off: [IconCircle, 'muted'],
  unknown: [IconQuestionMark, 'muted'],
};

function isStatus(word: string): word is Status {
  return word in MARKS;
}

/** A status the page does not know is shown by its own word. */
export function StatusMark({ status, detail }: { status: string; detail?: string }) {
  const { t } = useTranslation();
  const known = isStatus(status) ? status : 'unknown';
  const [Icon, tone] = MARKS[known];
  return (
    <span className={classes['mark']} data-tone={tone} data-status={status}>
      <Icon size={14} aria-hidden />
      <span>{isStatus(status) ? t(`status.${status}`) : status}</span>
      {detail && <span className="muted">{detail}</span>}
    </span>
  );
}
