// What kind of memory it is, by icon and word.
import { IconEye, IconListCheck, IconMessage2, IconNote } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type en from '@/i18n/en/timeline';
import type { MemoryKind } from './queries';
import classes from './Timeline.module.css';

const ICONS: Partial<Record<MemoryKind, typeof IconEye>> = {
  observation: IconEye,
  summary: IconListCheck,
  prompt: IconMessage2,
};

/** The word for a type of observation; one that is not ours is shown as it is. */
export function useTypeWord(): (type: string) => string {
  const { t, i18n } = useTranslation('timeline');
  return (type) => (i18n.exists(`timeline:type.${type}`) ? t(`type.${type as keyof typeof en.type}`) : type);
}

export function KindMark({ kind, type = '', bare = false }: { kind: MemoryKind; type?: string; bare?: boolean }) {
  const { t } = useTranslation('timeline');
  const word = useTypeWord();
  const Icon = ICONS[kind] ?? IconNote;
  const name = t(`kind.${kind}`);
  return (
    <span className={classes['kind']} data-kind={kind} title={bare ? name : undefined}>
      <Icon size={15} aria-hidden={!bare} {...(bare ? { 'aria-label': name, role: 'img' } : {})} />
      {!bare && <span>{type ? `${name} · ${word(type)}` : name}</span>}
    </span>
  );
}
