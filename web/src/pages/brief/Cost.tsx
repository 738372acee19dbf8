// What a project's memory cost in tokens, day by day, and what agents were given. What is not known is said in words.
import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Panel } from '@/parts/Panel';
import { COST_DAYS, costQuery, type Cost as Found } from './learnedQueries';
import classes from './Learned.module.css';

type Use = Found['total'];

const WEEK = 7; // days

export function Cost({ project }: { project: string }) {
  const { t } = useTranslation('learned');
  const cost = useQuery(costQuery(project));
  return (
    <Panel title={t('cost.title')} state={cost}>
      {(found: Found) => (
        <div className={classes['cost']}>
          <Spent found={found} />
          <Given given={found.given} />
        </div>
      )}
    </Panel>
  );
}

function useWords() {
  const { t, i18n } = useTranslation('learned');
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const tokens = (value: number | null) =>
    value === null ? t('cost.tokensUnknown') : t('cost.tokens', { count: value, replace: { count: number(value) } });
  const calls = (value: number) => t('cost.calls', { count: value, replace: { count: number(value) } });
  return { number, tokens, calls };
}

function Spent({ found }: { found: Found }) {
  const { t } = useTranslation('learned');
  const { tokens, calls } = useWords();
  const { total, models, projects, store } = found;
  const week = sumOf(found.days.slice(-WEEK));
  const everything: Use = { tokens: store.tokens, calls: store.calls ?? 0, unmeasured: 0 };
  return (
    <section className="column gap8">
      <h3 className={classes['heading']}>{t('cost.cost')}</h3>
      {total.calls ? (
        <>
          <p className={classes['lead']}>{t('cost.week', { tokens: tokens(week.tokens), calls: calls(week.calls) })}</p>
          <p className={classes['lead']}>
            {t('cost.total', { tokens: tokens(total.tokens), calls: calls(total.calls), days: COST_DAYS })}
          </p>
          <Bars days={found.days} />
          {total.unmeasured > 0 && (
            <p className={classes['hint']}>{t('cost.unmeasured', { count: total.unmeasured })}</p>
          )}
        </>
      ) : (
        <p className={classes['lead']}>{t('cost.free', { days: COST_DAYS })}</p>
      )}
      {models.length > 0 && (
        <Uses head={t('cost.model')} rows={models.map(({ model, ...use }) => [model ?? t('cost.modelUnknown'), use])} />
      )}
      {(projects.length > 0 || store.tokens > 0) && (
        <Uses
          head={t('cost.project')}
          rows={projects.map(({ project, ...use }) => [project || t('cost.noProject'), use])}
          last={[t('cost.everything'), t('cost.everythingWhy'), everything, store.calls === null]}
        />
      )}
      {!found.whole && <p className={classes['hint']}>{t('cost.notWhole')}</p>}
      {total.calls > 0 && <p className={classes['hint']}>{t('cost.price')}</p>}
    </section>
  );
}

/** Some days together; tokens are not known where none of them is. */
function sumOf(days: Found['days']): { tokens: number | null; calls: number } {
  const calls = days.reduce((sum, day) => sum + day.calls, 0);
  const known = days.flatMap((day) => (day.tokens === null ? [] : [day.tokens]));
  return { calls, tokens: known.length ? known.reduce((sum, each) => sum + each, 0) : null };
}

function Bars({ days }: { days: Found['days'] }) {
  const { t, i18n } = useTranslation('learned');
  const { number, tokens, calls } = useWords();
  const most = Math.max(1, ...days.map((day) => day.tokens ?? 0));
  const written = new Intl.DateTimeFormat(localeTag(i18n.language), {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  });
  const name = (day: string) => written.format(Date.parse(`${day}T00:00:00Z`));
  const ends = [days[0], days.at(-1)].map((each) => (each ? name(each.day) : ''));
  return (
    <div className={classes['chart']}>
      <span className={classes['most']} aria-hidden>
        {number(most)}
      </span>
      <ol className={`${classes['bars']} plain`} aria-label={t('cost.days', { days: COST_DAYS })}>
        {days.map((each) => {
          const said = t('cost.day', { day: name(each.day), tokens: tokens(each.tokens), calls: calls(each.calls) });
          const height = `${((each.tokens ?? 0) / most) * 100}%`;
          return (
            <li key={each.day} title={said}>
              <span className={classes['unseen']}>{said}</span>
              <span className={classes['bar']} data-unknown={each.tokens === null || undefined} style={{ height }} />
            </li>
          );
        })}
      </ol>
      <span className={classes['ends']} aria-hidden>
        <span>{ends[0]}</span>
        <span>{ends[1]}</span>
      </span>
    </div>
  );
}

type UsesProps = {
  head: string;
  rows: [string, Use][];
  last?: [name: string, why: string, use: Use, callsUnknown: boolean];
};

function Uses({ head, rows, last }: UsesProps) {
  const { t } = useTranslation('learned');
  const { number } = useWords();
  const tokens = (use: Use) => (use.tokens === null ? t('unknown') : number(use.tokens));
  return (
    <Table className={classes['uses'] ?? ''}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{head}</Table.Th>
          <Table.Th scope="col" ta="end">
            {t('cost.tokensHead')}
          </Table.Th>
          <Table.Th scope="col" ta="end">
            {t('cost.callsHead')}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(([name, use]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400}>
              {name}
            </Table.Th>
            <Table.Td ta="end">{tokens(use)}</Table.Td>
            <Table.Td ta="end">{number(use.calls)}</Table.Td>
          </Table.Tr>
        ))}
        {last && (
          <Table.Tr>
            <Table.Th scope="row">
              {last[0]} <span className={classes['hint']}>{last[1]}</span>
            </Table.Th>
            <Table.Td ta="end">{tokens(last[2])}</Table.Td>
            <Table.Td ta="end">{last[3] ? t('unknown') : number(last[2].calls)}</Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  );
}

const GIVEN = ['starts', 'prompts', 'tokens', 'memories', 'used', 'corrected'] as const;

function Given({ given }: { given: Found['given'] }) {
  const { t } = useTranslation('learned');
  const { number } = useWords();
  return (
    <section className="column gap8">
      <h3 className={classes['heading']}>{t('cost.gave')}</h3>
      {given.starts + given.prompts ? (
        <dl className={`${classes['given']} flat`}>
          {GIVEN.map((name) => {
            const value = given[name];
            return (
              <div key={name}>
                <dt>{t(`cost.${name === 'tokens' ? 'given' : name}`)}</dt>
                <dd data-unknown={value === null || undefined}>{value === null ? t('unknown') : number(value)}</dd>
              </div>
            );
          })}
        </dl>
      ) : (
        <p className={classes['lead']}>{t('cost.nothingGiven', { days: COST_DAYS })}</p>
      )}
      {!given.whole && <p className={classes['hint']}>{t('cost.notWhole')}</p>}
    </section>
  );
}
