// One thing to decide about: a proposal, or two memories side by side, with what can be decided.
import { Group, SegmentedControl } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowMerge,
  IconArrowsSplit2,
  IconCheck,
  IconCopyCheck,
  IconEyeOff,
  IconReplace,
  IconUserQuestion,
  IconX,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LifeMarks, useOriginName } from '@/parts/acts/LifeMarks';
import { MemoryActs } from '@/parts/acts/MemoryActs';
import { DecisionBar, type Decision as Choice } from '@/parts/DecisionBar';
import { DiffPane } from '@/parts/DiffPane';
import { FieldChanges } from '@/parts/FieldChanges';
import { Content } from '@/parts/MemoryText';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { likeness } from '@/parts/searchResult';
import { TimeText } from '@/parts/TimeText';
import { livingOf, type Decision, type Finding, type ReviewMemory } from './queries';
import { plainLine } from '@/parts/snippet';
import classes from './Review.module.css';

type Props = {
  finding: Finding;
  progress: { position: number; total: number } | null;
  undoes: number;
  onDecide: (decision: Decision) => void;
  onUndo: () => void;
};

const LOOK: Record<Exclude<Decision, 'reopen'>, Pick<Choice, 'icon' | 'letter' | 'colour'>> = {
  approve: { icon: IconCheck, letter: 'A', colour: 'green' },
  reject: { icon: IconX, letter: 'R', colour: 'red' },
  keep: { icon: IconCheck, letter: 'A', colour: 'green' },
  hide: { icon: IconEyeOff, letter: 'R', colour: 'red' },
  merge: { icon: IconArrowMerge, letter: 'M' },
  supersede: { icon: IconReplace, letter: 'S' },
};
const ORDER = ['approve', 'keep', 'reject', 'hide', 'merge', 'supersede'] as const;
const ICONS = { proposed: IconUserQuestion, duplicate: IconCopyCheck, contradiction: IconArrowsSplit2 };

export function FindingDetail({ finding, progress, undoes, onDecide, onUndo }: Props) {
  const { t } = useTranslation(['life', 'qa', 'common']);
  const { reason, newer, older, score, sentences, decisions, changes } = finding;
  const [view, setView] = useState<'texts' | 'difference'>('texts');
  const Icon = ICONS[reason];
  return (
    <div className="column gap12">
      <DecisionBar
        label={t('review.actions.label')}
        progress={
          progress && {
            ...progress,
            text: t('qa:progress', progress),
            label: t('qa:progressLabel', progress),
          }
        }
        decisions={[
          ...ORDER.filter((each) => decisions.includes(each)).map((name) => ({
            ...LOOK[name],
            name,
            label: t(`review.actions.${name}`),
            run: () => onDecide(name),
          })),
          {
            name: 'undo',
            label: t('review.actions.undo'),
            icon: IconArrowBackUp,
            letter: 'U',
            disabled: !undoes,
            run: onUndo,
          },
        ]}
      />
      <Panel label={t('review.item')}>
        <p className={classes['why']} data-reason={reason}>
          <Icon size={16} aria-hidden />
          <span>{t(`review.why.${reason}`)}</span>
          {older && reason === 'duplicate' && <span>{t(`common:alike.${likeness(score)}`)}</span>}
        </p>
        {changes.length > 0 && <Changes changes={changes} />}
        {sentences && !(sentences[0] === newer.content && sentences[1] === older?.content) && (
          <div className={classes['sentences']}>
            {sentences.map((sentence, at) => (
              <blockquote key={at} dir="auto">
                {sentence}
              </blockquote>
            ))}
          </div>
        )}
        {older && (
          <SegmentedControl
            aria-label={t('review.view')}
            value={view}
            onChange={(value) => setView(value as typeof view)}
            data={[
              { value: 'texts', label: t('review.texts') },
              { value: 'difference', label: t('review.difference') },
            ]}
            mb="sm"
          />
        )}
        {older && view === 'difference' ? (
          <DiffPane before={older.content} after={newer.content} names={[older.ref, newer.ref]} />
        ) : (
          <div className={classes['sides']}>
            <Side name={t(older ? 'review.newer' : 'review.proposal')} memory={newer} />
            {older && <Side name={t('review.older')} memory={older} />}
          </div>
        )}
      </Panel>
    </div>
  );
}

/** In what a proposal differs from what a person agreed to: text side by side, other fields in a table. */
function Changes({ changes }: { changes: Finding['changes'] }) {
  const { t } = useTranslation('life');
  const names = [t('review.agreed'), t('review.proposal')] as const;
  const text = changes.find(({ field }) => field === 'content');
  return (
    <section className={classes['changes']} aria-label={t('review.changes')}>
      <h2>{t('review.changes')}</h2>
      <FieldChanges changes={changes.filter((change) => change !== text)} names={names} />
      {text && <DiffPane before={String(text.before)} after={String(text.after)} names={names} />}
    </section>
  );
}

/** Whether the title is only how the text begins. */
function begins({ title, content }: ReviewMemory): boolean {
  return title !== '' && content.startsWith(title.replace(/[.…。]+$/, ''));
}

function Side({ name, memory }: { name: string; memory: ReviewMemory }) {
  const { t } = useTranslation('timeline');
  const originName = useOriginName();
  return (
    <section className={`${classes['side']} column`} aria-label={name}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <h3>{name}</h3>
        <MemoryActs memory={livingOf(memory)} without={['approve', 'hide']} small />
      </Group>
      {!begins(memory) && <h2 dir="auto">{plainLine(memory.title) || t('list.noTitle')}</h2>}
      <Content kind={memory.kind} text={memory.content} />
      <div className={classes['about']}>
        <Ref reference={memory.ref} />
        <span>{t(`kind.${memory.kind}`)}</span>
        <LifeMarks life={memory.life} marks={memory.marks} />
        <span>{t('list.by', { who: originName(memory.origin) })}</span>
        <TimeText at={memory.created_ms} />
        {memory.project && <span>{memory.project}</span>}
      </div>
    </section>
  );
}
