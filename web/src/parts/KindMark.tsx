// What kind of memory it is, by icon and word.
import {
  IconBook,
  IconBulb,
  IconEye,
  IconHelpCircle,
  IconListCheck,
  IconMessage2,
  IconNote,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Kind } from '@/api/life';
import type en from '@/i18n/en/timeline';
import classes from './KindMark.module.css';

const ICONS: Partial<Record<Kind, typeof IconEye>> = {
  observation: IconEye,
  summary: IconListCheck,
  prompt: IconMessage2,
  qa: IconHelpCircle,
  knowledge: IconBook,
  lesson: IconBulb,
};

/** The word for a type of observation; one that is not ours is shown as it is. */
export function useTypeWord(): (type: string) => string {
  const { t, i18n } = useTranslation('timeline');
  return (type) => (i18n.exists(`timeline:type.${type}`) ? t(`type.${type as keyof typeof en.type}`) : type);
}

export function KindMark({ kind, type = '', bare = false }: { kind: Kind; type?: string; bare?: boolean }) {
  const { t } = useTranslation('timeline');
  const word = useTypeWord();
  const Icon = ICONS[kind] ?? IconNote;
  const name = t(`kind.${kind}`);
  return (
    <span className={`${classes['kind']} muted inline gap4`} data-kind={kind} title={bare ? name : undefined}>
      <Icon size={15} aria-hidden={!bare} {...(bare ? { 'aria-label': name, role: 'img' } : {})} />
      {!bare && <span>{type ? `${name} · ${word(type)}` : name}</span>}
    </span>
  );
}
