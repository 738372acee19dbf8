// The results of a search, each with a bar of what ranked it: words, meaning, boosts; and on demand every factor.
import { Badge, Table, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { count, useSearchState } from '@/app/searchState';
import { Ref } from '@/parts/Ref';
import { Legend } from './Bar';
import { decimal, type Extent, extentOf, GROUPS, segmentsOf, type Shares, sharesOf } from './figures';
import { useKindName } from './kinds';
import type { Ranked } from './queries';
import classes from './RankedResults.module.css';

export function RankedResults({ ranked }: { ranked: readonly Ranked[] }) {
  const { t } = useTranslation('viewer');
  const shares = useMemo(() => ranked.map(({ factors }) => sharesOf(factors)), [ranked]);
  const extent = useMemo(() => extentOf(shares), [shares]);
  const [{ result: asked }] = useSearchState(SCHEMA);
  const known = ranked.some(({ seq }) => seq === asked);
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
          <Result
            key={result.rank}
            result={result}
            shares={shares[at]}
            extent={extent}
            begin={known ? result.seq === asked : at === 0}
            asked={result.seq === asked}
          />
        ))}
      </ol>
    </>
  );
}

const TONES = [1, 3, 2] as const;
/** The memory of which somebody wants to know why it was found. */
const SCHEMA = { result: count() };

type Props = { result: Ranked; shares: Shares | undefined; extent: Extent; begin: boolean; asked: boolean };

function Result({ result, shares, extent, begin, asked }: Props) {
  const { t, i18n } = useTranslation('viewer');
  const [open, setOpen] = useState(begin);
  const id = useId();
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (asked) line.current?.scrollIntoView({ block: 'nearest' });
  }, [asked]);
  const nameOf = useKindName();
  const { rank, seq, ref, kind, title, gone, factors } = result;
  return (
    <li ref={line} className={classes['result']} aria-current={asked || undefined}>
      <div className={classes['line']}>
        <span className={classes['rank']}>{rank}</span>
        <span className={`${classes['title']} size13 anywhere grow`}>
          {ref ? (
            <Ref reference={ref} copy={false}>
              {title || ref}
            </Ref>
          ) : (
            <span className="muted">{gone ? t('traces.gone') : `#${seq}`}</span>
          )}
        </span>
        {kind && <Badge color="slate">{nameOf(kind)}</Badge>}
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

type FactorsProps = { factors: Ranked['factors']; sum: number | null; language: string };

/** Every factor of one result and its share of the sum. */
function Factors({ factors, sum, language }: FactorsProps) {
  const { t, i18n } = useTranslation('viewer');
  const name = (factor: string) =>
    i18n.exists(`viewer:traces.factor.${factor}`) ? t(`traces.factor.${factor as 'words'}`) : factor;
  return (
    <Table className={classes['factors'] ?? ''} verticalSpacing={2}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t('traces.factorColumns.factor')}</Table.Th>
          <Table.Th scope="col">{t('traces.factorColumns.group')}</Table.Th>
          <Table.Th scope="col" ta="end">
            {t('traces.factorColumns.share')}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {factors.map((factor) => (
          <Table.Tr key={factor.name}>
            <Table.Th scope="row" fw={400}>
              {name(factor.name)} <code className={classes['code']}>{factor.name}</code>
            </Table.Th>
            <Table.Td>{t(`traces.group.${factor.group}`)}</Table.Td>
            <Table.Td ta="end">{signed(factor.share, language)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
      {sum !== null && (
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th scope="row" colSpan={2}>
              {t('traces.total')}
            </Table.Th>
            <Table.Td ta="end" fw={600}>
              {decimal(sum, language, 3)}
            </Table.Td>
          </Table.Tr>
        </Table.Tfoot>
      )}
    </Table>
  );
}

function signed(share: number, language: string): string {
  return share > 0 ? `+${decimal(share, language, 3)}` : decimal(share, language, 3);
}

const SHARE_BAR_TONES = { lexical: 1, vector: 3, boost: 2 } as const;

/** What speaks for a result and against it, in one bar that can be compared with those above and below it. */
function ShareBar({ shares, extent }: { shares: Shares; extent: Extent }) {
  const { t, i18n } = useTranslation('viewer');
  const write = (share: number) => decimal(share, i18n.language);
  const label = t('traces.bar', {
    lexical: write(shares.lexical),
    vector: write(shares.vector),
    boost: write(shares.boost),
  });
  return (
    <div className={classes['bar']} role="img" aria-label={label} title={label}>
      {segmentsOf(shares, extent).map(({ group, start, length, negative }) => (
        <span
          key={group}
          data-group={group}
          data-negative={negative || undefined}
          style={{
            insetInlineStart: `${start}%`,
            width: `${length}%`,
            backgroundColor: `var(--cm-chart-${SHARE_BAR_TONES[group]})`,
          }}
        />
      ))}
      {extent.below > 0 && (
        <span
          className={classes['zero']}
          style={{ insetInlineStart: `${(extent.below / (extent.above + extent.below)) * 100}%` }}
        />
      )}
    </div>
  );
}
