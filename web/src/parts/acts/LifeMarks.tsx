// What is out of the ordinary about a memory, in a few labels: not approved, superseded, hidden, pinned, never told.
import { useTranslation } from 'react-i18next';
import { useCurrentKey } from '@/api/keys';
import type { Life, Mark, Origin } from '@/api/life';
import { StatusMark } from '../StatusMark';
import classes from './Acts.module.css';

type Props = { life: Life; marks: readonly Mark[]; /** Also say that nothing is out of the ordinary. */ all?: boolean };

export function LifeMarks({ life, marks, all = false }: Props) {
  const own = marks.filter((mark) => mark !== 'proposed'); // the life says that already
  if (life === 'active' && !own.length && !all) return null;
  return (
    <span className={classes['marks']}>
      {(life !== 'active' || all) && <StatusMark status={life} />}
      {own.map((mark) => (
        <StatusMark key={mark} status={mark} />
      ))}
    </span>
  );
}

/** Who wrote it first, in a word. On a machine of one's own a person is whoever looks. */
export function useOriginName(): (origin: Origin) => string {
  const { t } = useTranslation('life');
  const shared = useCurrentKey() !== null;
  return (origin) => t(`origin.${origin === 'human' && !shared ? 'you' : origin}`);
}

/** Who wrote or answered, in words; a name that is not the product's own, such as key:ci, stays as it is. */
export function useActorName(): (actor: string) => string {
  const { t } = useTranslation('life');
  const words: Readonly<Record<string, string>> = t('actor', { returnObjects: true });
  return (actor) => (Object.hasOwn(words, actor) ? words[actor] : undefined) ?? actor;
}
