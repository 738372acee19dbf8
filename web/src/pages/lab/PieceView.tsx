// A piece of a document as a run saw it, with where it comes from.
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import type { Evidence } from '@/api/lab';
import classes from './Piece.module.css';

export function PieceView({ piece }: { piece: Evidence }) {
  const { t } = useTranslation(['lab', 'common']);
  return (
    <div className={classes['piece']}>
      <dl className={classes['origin']}>
        <dt>{t('source.source')}</dt>
        <dd>{piece.source}</dd>
        <dt>{t('source.namespace')}</dt>
        <dd>{piece.kb_namespace}</dd>
        <dt>{t('source.reference')}</dt>
        <dd>
          <code>{piece.ref}</code> <CopyButton value={piece.ref} label={t('common:id')} />
        </dd>
        <dt>{t('source.seen')}</dt>
        <dd>
          <TimeText at={piece.created_at * 1_000} />
        </dd>
      </dl>
      <p className={classes['note']}>{t('source.asSeen')}</p>
      <blockquote className={classes['quote']}>
        <TextBlock text={piece.content ?? ''} copy name={`${piece.alias}.txt`} />
      </blockquote>
    </div>
  );
}
