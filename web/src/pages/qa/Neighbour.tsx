// One item beside the one under review: how alike, whether both can be right, side by side or as a difference.
import { Badge, Button, SegmentedControl } from '@mantine/core';
import { IconArrowMerge, IconArrowsSplit2, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { DiffPane } from '@/parts/DiffPane';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { shortId, type Beside } from './besides';
import { Answer } from './ItemText';
import classes from './Compare.module.css';
import type { QaDetail, QaItem } from './queries';

type Props = { item: QaDetail; other: Beside; opened: boolean; onMerge: () => void };

const TONES = { agrees: 'green', differs: 'slate', contradicts: 'red' } as const;

export function Neighbour({ item, other, opened, onMerge }: Props) {
  const { t, i18n } = useTranslation('qa');
  const [open, setOpen] = useState(opened);
  const [view, setView] = useState<'texts' | 'difference'>('texts');
  const id = useId();
  // Answers to different questions neither agree nor contradict.
  const asked = other.likeness === 'other' ? undefined : other.likeness;
  const agreement = other.against ? 'contradicts' : asked && other.agreement;
  const percent = (share: number) =>
    share.toLocaleString(localeTag(i18n.language), { style: 'percent', maximumFractionDigits: 0 });
  return (
    <section className={classes['neighbour']} data-against={other.against || undefined}>
      <div className={classes['nearHead']}>
        <button
          type="button"
          className={classes['toggle']}
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          aria-label={t('near.compareWith', { question: other.question })}
          onClick={() => setOpen(!open)}
        >
          {open ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
          <span dir="auto">{other.question}</span>
        </button>
        <Button
          variant="default"
          leftSection={<IconArrowMerge size={14} aria-hidden />}
          aria-label={t('near.mergeWith', { question: other.question })}
          onClick={onMerge}
        >
          {t('actions.merge')}
        </Button>
      </div>
      <div className={classes['nearMarks']}>
        {other.similarity !== undefined && (
          <span className={classes['similar']}>
            <span className={classes['bar']} aria-hidden>
              <span style={{ width: `${other.similarity * 100}%` }} />
            </span>
            {t('near.similarity', { percent: percent(other.similarity) })}
          </span>
        )}
        {asked && <Badge color="blue">{t(`near.likeness.${asked}`)}</Badge>}
        {agreement && (
          <Badge
            color={TONES[agreement]}
            leftSection={agreement === 'contradicts' && <IconArrowsSplit2 size={12} aria-hidden />}
          >
            {t(`near.agreement.${agreement}`)}
          </Badge>
        )}
        <StatusMark status={other.status} detail={other.confidence.toFixed(2)} />
        <Ref reference={other.qa_id}>{shortId(other.qa_id)}</Ref>
      </div>
      {open && (
        <div id={id} className={classes['compare']}>
          <SegmentedControl
            aria-label={t('near.view')}
            value={view}
            onChange={(value) => setView(value as typeof view)}
            data={[
              { value: 'texts', label: t('near.texts') },
              { value: 'difference', label: t('near.difference') },
            ]}
          />
          {view === 'texts' ? (
            <div className={classes['sides']}>
              <Side name={t('near.this')} item={item} />
              <Side name={shortId(other.qa_id)} item={other} />
            </div>
          ) : (
            <DiffPane before={item.answer} after={other.answer} names={[t('near.this'), shortId(other.qa_id)]} />
          )}
        </div>
      )}
    </section>
  );
}

/** A question with its answer as one of two. */
export function Side({ name, item, children }: { name: string; item: QaItem; children?: ReactNode }) {
  return (
    <div role="group" className={classes['side']} aria-label={name} tabIndex={0}>
      <h3>{name}</h3>
      {children}
      <p className={classes['sideQuestion']} dir="auto">
        {item.question}
      </p>
      <Answer text={item.answer} />
    </div>
  );
}
