// One item beside the one under review: how alike, whether both can be right, side by side or as a difference.
import { Badge, Button, SegmentedControl } from '@mantine/core';
import { IconArrowMerge, IconArrowsSplit2, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { UseQueryResult } from '@tanstack/react-query';
import { DiffPane } from '@/parts/DiffPane';
import { Ref } from '@/parts/Ref';
import { belief, likeness } from '@/parts/searchResult';
import { StatusMark } from '@/parts/StatusMark';
import type { Schemas } from '@/api/client';
import { Panel } from '@/parts/Panel';
import { type Beside, shortId } from './besides';
import { Answer } from './ItemText';
import classes from './Compare.module.css';
import type { QaDetail, QaItem } from './queries';

type Props = { item: QaDetail; other: Beside; opened: boolean; onMerge: () => void };

const TONES = { agrees: 'green', differs: 'slate', contradicts: 'red' } as const;

export function Neighbour({ item, other, opened, onMerge }: Props) {
  const { t } = useTranslation(['qa', 'common']);
  const [open, setOpen] = useState(opened);
  const [view, setView] = useState<'texts' | 'difference'>('texts');
  const id = useId();
  // Answers to different questions neither agree nor contradict.
  const asked = other.likeness === 'other' ? undefined : other.likeness;
  const agreement = other.against ? 'contradicts' : asked && other.agreement;
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
          <span className="muted inline gap6">
            <span className="meter" aria-hidden>
              <span style={{ width: `${other.similarity * 100}%` }} />
            </span>
            {t(`common:alike.${likeness(other.similarity)}`)}
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
        <StatusMark status={other.status} detail={t(`common:believed.${belief(other.confidence)}`)} />
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
function Side({ name, item }: { name: string; item: QaItem }) {
  return (
    <div role="group" className={classes['side']} aria-label={name} tabIndex={0}>
      <h3>{name}</h3>
      <p className={classes['sideQuestion']} dir="auto">
        {item.question}
      </p>
      <Answer text={item.answer} />
    </div>
  );
}

type NeighboursProps = {
  item: QaDetail;
  near: readonly Beside[];
  similar: UseQueryResult<Schemas['QASimilarAnswer']>;
  onMerge: (id: string) => void;
};

/** What stands beside an item: those that contradict it first, then those that ask nearly the same. */
export function Neighbours({ item, near, similar, onMerge }: NeighboursProps) {
  const { t } = useTranslation('qa');
  const why = similar.data?.degraded;
  return (
    <Panel
      title={t('near.title')}
      state={similar}
      isEmpty={() => near.length === 0}
      empty={{ title: t('near.empty'), why: t('near.why') }}
      degraded={why?.length ? t('near.degraded', { why: why.join('; ') }) : null}
      flush
    >
      {near.map((other, index) => (
        <Neighbour
          key={other.qa_id}
          item={item}
          other={other}
          opened={other.against || index === 0}
          onMerge={() => onMerge(other.qa_id)}
        />
      ))}
    </Panel>
  );
}
