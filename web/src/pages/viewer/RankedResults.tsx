// The results of a search, each with a bar of what ranked it: words, meaning, boosts; and on demand every factor.
import { Badge, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Ref } from '@/parts/Ref';
import { Legend } from './Bar';
import { decimal, extentOf, GROUPS, percent, sharesOf, type Extent, type Shares } from './figures';
import { Factors } from './Factors';
import { useKindName } from './kinds';
import type { Ranked } from './queries';
import { ShareBar } from './ShareBar';
import classes from './RankedResults.module.css';

export function RankedResults({ ranked }: { ranked: readonly Ranked[] }) {
  const { t } = useTranslation('viewer');
  const shares = useMemo(() => ranked.map(({ factors }) => sharesOf(factors)), [ranked]);
  const extent = useMemo(() => extentOf(shares), [shares]);
  return (
    <>
      <Legend
        parts={GROUPS.map((group, at) => ({
          name: group,
          label: t(`traces.group.${group}`),
          tone: TONES[at] ?? 1,
        }))}
      />
      <ol className={classes['list']} aria-label={t('traces.rankedLabel')}>
        {ranked.map((result, at) => (
          <Result key={result.rank} result={result} shares={shares[at]} extent={extent} begin={at === 0} />
        ))}
      </ol>
    </>
  );
}

const TONES = [1, 3, 2] as const;

type Props = { result: Ranked; shares: Shares | undefined; extent: Extent; begin: boolean };

function Result({ result, shares, extent, begin }: Props) {
  const { t, i18n } = useTranslation('viewer');
  const [open, setOpen] = useState(begin);
  const id = useId();
  const nameOf = useKindName();
  const { rank, seq, ref, kind, title, gone, score, factors } = result;
  return (
    <li className={classes['result']}>
      <div className={classes['line']}>
        <span className={classes['rank']}>{rank}</span>
        <span className={classes['title']}>
          {ref ? (
            <Ref reference={ref} copy={false}>
              {title || ref}
            </Ref>
          ) : (
            <span className={classes['gone']}>{gone ? t('traces.gone') : `#${seq}`}</span>
          )}
        </span>
        {kind && <Badge color="slate">{nameOf(kind)}</Badge>}
        <span className={classes['score']} title={t('traces.scoreHint')}>
          {t('traces.score', { percent: percent(score, i18n.language) })}
        </span>
      </div>
      {factors.length > 0 && shares && (
        <>
          <div className={classes['line']}>
            <UnstyledButton
              className={classes['toggle'] ?? ''}
              aria-expanded={open}
              aria-controls={id}
              aria-label={t('traces.factors', { rank })}
              onClick={() => setOpen(!open)}
            >
              {open ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
            </UnstyledButton>
            <ShareBar shares={shares} extent={extent} />
          </div>
          <Places {...result} />
          <Moved {...result} />
          <div id={id} hidden={!open}>
            {open && <Factors factors={factors} sum={result.sum} language={i18n.language} />}
          </div>
        </>
      )}
    </li>
  );
}

/** Why the order is not that of the sums. */
function Moved({ rank, rankBySum, rerank }: Ranked) {
  const { t } = useTranslation('viewer');
  if (rankBySum === null || rankBySum === rank) return null;
  const why = rerank !== null ? 'reranked' : rank > rankBySum ? 'behind' : 'ahead';
  return (
    <p className={classes['moved']} data-why={why}>
      {t(`traces.${why}`, { place: rankBySum })}
    </p>
  );
}

function Places({ lexical, vector, rerank, sum }: Ranked) {
  const { t, i18n } = useTranslation('viewer');
  const write = (value: number) => decimal(value, i18n.language);
  return (
    <ul className={classes['places']}>
      <li>
        {lexical?.rank ? t('traces.words', { rank: lexical.rank, score: write(lexical.score) }) : t('traces.noWords')}
      </li>
      <li>
        {vector?.rank ? t('traces.meaning', { rank: vector.rank, score: write(vector.score) }) : t('traces.noMeaning')}
      </li>
      {rerank !== null && <li>{t('traces.rerank', { score: write(rerank) })}</li>}
      {sum !== null && <li>{t('traces.sum', { sum: write(sum) })}</li>}
    </ul>
  );
}
