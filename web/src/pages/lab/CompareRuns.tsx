// The answers, scores, feedback and cost of a few runs side by side, with what differs marked.
import '@mantine/core/styles/Pill.layer.css';
import '@mantine/core/styles/PillsInput.layer.css';
import '@mantine/core/styles/Switch.layer.css';
import { MultiSelect, Switch, Table, VisuallyHidden } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, ask } from '@/api/client';
import { ended, fetchOutput, shownStatus, type Run } from '@/api/lab';
import { flag, text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { durationText } from '@/parts/amounts';
import { tookMs } from '@/api/lab';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { TextLink } from '@/parts/TextLink';
import { differ, flat, rowsOf, type CompareRow, type Flat } from './compare';
import classes from './Compare.module.css';
import { fieldName } from './OutputValue';

const BESIDE = 4; // runs that fit beside each other
const CALLS = 100; // answers of the model that are added up
const SCHEMA = { compare: text(), differing: flag() };

type Found = { answer: Flat | null; said: Flat; calls: string; tokens: string };

export function CompareRuns({ runs }: { runs: readonly Run[] }) {
  const { t, i18n } = useTranslation(['lab', 'common']);
  const [{ compare, differing }, set] = useSearchState(SCHEMA);
  const wanted = compare.split(',').filter(Boolean);
  const named = runs.filter((run) => wanted.includes(String(run.run_index)));
  const shown = (named.length > 1 ? named : runs).slice(0, BESIDE);
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const found = useQueries({ queries: shown.map((run) => ({ ...foundQuery(run), staleTime: 5_000 })) });
  const state = {
    isPending: found.some((each) => each.isPending),
    isError: found.some((each) => each.isError),
    error: found.find((each) => each.isError)?.error ?? null,
    data: found.every((each) => each.data) ? found.map((each) => each.data as Found) : undefined,
    refetch: () => found.forEach((each) => void each.refetch()),
  };
  const name = (path: readonly string[]) =>
    path.map((part) => (/^\d+$/.test(part) ? part : fieldName(part, t, i18n))).join(' · ');
  const line = (path: string, values: (string | null)[]): CompareRow => ({
    path: [path],
    values,
    differs: differ(values),
  });
  return (
    <Panel
      title={t('compare.title')}
      state={state}
      flush
      actions={
        <>
          {runs.length > BESIDE && (
            <MultiSelect
              size="xs"
              aria-label={t('compare.choose', { most: BESIDE })}
              maxValues={BESIDE}
              data={runs.map((run) => ({
                value: String(run.run_index),
                label: t('runNumber', { n: run.run_index }),
              }))}
              value={shown.map((run) => String(run.run_index))}
              onChange={(chosen) => set({ compare: chosen.join(',') })}
            />
          )}
          <Switch
            label={t('compare.differing')}
            checked={differing}
            onChange={(event) => set({ differing: event.currentTarget.checked }, { replace: true })}
          />
        </>
      }
    >
      {(columns) => {
        const cost = [
          line(
            t('details.took'),
            shown.map((run) => {
              const ms = tookMs(run, Date.now() / 1_000);
              return ms === null ? null : durationText(ms, i18n.language);
            }),
          ),
          line(
            t('compare.calls'),
            columns.map(({ calls }) => calls),
          ),
          line(
            t('compare.tokens'),
            columns.map(({ tokens }) => tokens),
          ),
        ];
        const groups: (readonly [string, CompareRow[]])[] = [
          [
            t('compare.judged'),
            [
              line(
                t('compare.score'),
                shown.map(({ feedback }) => (typeof feedback?.score === 'number' ? number(feedback.score) : null)),
              ),
              ...rowsOf(columns.map(({ said }) => said)),
            ],
          ],
          [t('output.title'), rowsOf(columns.map(({ answer }) => answer))],
          [t('compare.cost'), cost],
        ];
        return (
          <div className="scrollsX" tabIndex={0} role="group" aria-label={t('compare.title')}>
            <Table className={classes['table']}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th className={classes['property']}>{t('compare.property')}</Table.Th>
                  {shown.map((run) => (
                    <Table.Th key={run.run_id}>
                      <TextLink to={`/ui/runs/${run.run_id}?tab=output`}>
                        {t('runNumber', { n: run.run_index })}
                      </TextLink>{' '}
                      <StatusMark status={shownStatus(run)} />
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              {groups.map(([title, rows]) => {
                const kept = differing ? rows.filter((row) => row.differs) : rows;
                if (!kept.length) return null;
                return (
                  <Table.Tbody key={title}>
                    <Table.Tr className={classes['group']}>
                      <Table.Th colSpan={shown.length + 1} scope="colgroup">
                        {title}
                      </Table.Th>
                    </Table.Tr>
                    {kept.map(({ path, values, differs }) => (
                      <Table.Tr key={path.join('\n')} data-differs={differs || undefined}>
                        <Table.Th className={classes['property']} scope="row">
                          {name(path)}
                          {differs && <VisuallyHidden> ({t('compare.differs')})</VisuallyHidden>}
                        </Table.Th>
                        {values.map((value, place) => (
                          <Table.Td key={shown[place]?.run_id ?? place} dir="auto">
                            {value === null || value === '' ? (
                              <span className="muted">{t('compare.none')}</span>
                            ) : (
                              value
                            )}
                          </Table.Td>
                        ))}
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                );
              })}
            </Table>
          </div>
        );
      }}
    </Panel>
  );

  /** Everything of one run; asked for again when the run, or what was said of it, has moved on. */
  function foundQuery(run: Run) {
    const path = { run_id: run.run_id };
    return {
      queryKey: ['lab', 'compare', run.run_id, run.status, run.feedback?.updated_at ?? null],
      queryFn: async (): Promise<Found> => {
        const query = { event_type: ['llm_response'], include_payload: true, limit: CALLS };
        const [output, feedback, calls] = await Promise.all([
          run.status === 'completed' ? fetchOutput(run.run_id) : null,
          run.feedback ? ask(api.GET('/api/v1/runs/{run_id}/feedback', { params: { path } })) : null,
          ended(run) ? ask(api.GET('/api/v1/runs/{run_id}/events', { params: { path, query } })) : null,
        ]);
        const more = calls?.has_more ? '+' : '';
        const tokens = calls?.items.reduce((sum, { payload }) => {
          const spent = payload as { prompt_tokens?: number; completion_tokens?: number } | null;
          return sum + (spent?.prompt_tokens ?? 0) + (spent?.completion_tokens ?? 0);
        }, 0);
        const said = feedback?.feedback;
        return {
          answer: output ? flat(output.recipes_json) : null,
          said: said
            ? [
                ...(['pros', 'cons', 'other'] as const).map((each) => [[t(`compare.${each}`)], said[each]] as const),
                ...said.products.map((each) => [[each.product_name], number(each.value)] as const),
              ]
            : [],
          calls: calls ? `${number(calls.items.length)}${more}` : '',
          tokens: tokens ? `${number(tokens)}${more}` : '',
        };
      },
    };
  }
}
