// What tools agents asked for, and what was decided.
import { Button, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { saveAs } from '@/api/client';
import { usePages } from '@/api/queries';
import { usePreferences } from '@/app/preferences';
import { choice, text, useSearchState } from '@/app/searchState';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { AuditDetail } from './AuditDetail';
import { AuditFilters } from './AuditFilters';
import { AuditLine } from './AuditLine';
import classes from './Audit.module.css';
import { ChainState } from './ChainState';
import { auditPage, CHAINS, DECISIONS, freshOf, KINDS, useNewest, type AuditItem, type AuditPageOf } from './queries';

const SCHEMA = {
  tool: text(),
  decision: choice(['', ...DECISIONS], ''),
  kind: choice(['', ...KINDS], ''),
  chain: choice(['', ...CHAINS], ''),
  project: text(),
  from: text(),
  to: text(),
  sel: text(),
};
const ALL = { tool: '', decision: '', kind: '', chain: '', project: '', from: '', to: '', sel: '' } as const;

export function AuditPage() {
  const { t } = useTranslation('qa');
  const { clock } = usePreferences();
  const [state, set] = useSearchState(SCHEMA);
  const { sel, ...filter } = state;
  const { tool, decision, kind, chain, project, from, to } = filter;
  const queryKey = useMemo(
    () => ['audit', 'rows', tool, decision, kind, chain, project, from, to, clock],
    [tool, decision, kind, chain, project, from, to, clock],
  );
  const { query, rows, more, restart, hasMore, loadingMore } = usePages<AuditItem>(queryKey, (cursor) =>
    auditPage(filter, clock, cursor),
  );
  const newest = useNewest().data;
  // Which days the newest rows belong to is the server's to say.
  const fresh = newest && query.isSuccess && !from && !to ? freshOf(newest, filter, rows) : 0;
  const last = newest?.[0]?.id ?? null;
  const asked = useRef<string | null>(null);
  useEffect(() => {
    // Where nothing is shown, nothing can move under the reader; once for each arrival is enough.
    if (!fresh || rows.length || asked.current === last) return;
    asked.current = last;
    void restart();
  }, [fresh, rows.length, last, restart]);
  const chosen = rows.find((row) => row.id === sel) ?? null;
  const filtered = Object.values(filter).some(Boolean);
  const lowest = query.data?.pages.at(-1) as AuditPageOf | undefined;

  const save = () =>
    saveAs(
      new Blob(
        rows.map((row) => `${JSON.stringify(row)}\n`),
        { type: 'application/x-ndjson' },
      ),
      'audit.ndjson',
    );

  return (
    <Page
      title={t('audit')}
      description={t('auditDescription')}
      actions={
        rows.length > 0 && (
          <Button variant="default" leftSection={<IconDownload size={14} aria-hidden />} onClick={save}>
            {t('rows.download', { count: rows.length })}
          </Button>
        )
      }
    >
      <ChainState onShow={(damage) => set({ ...ALL, chain: damage })} />
      <AuditFilters filter={filter} known={rows} onChange={(change) => set({ ...change, sel: '' })} />
      <SplitView
        chosen={chosen !== null}
        onBack={() => set({ sel: '' })}
        leftWidth="minmax(320px, 3fr)"
        left={
          <Panel
            title={t('rows.title')}
            state={query}
            isEmpty={() => rows.length === 0 && !hasMore}
            empty={t('rows.empty', { returnObjects: true })}
            filtered={filtered ? { text: t('rows.filtered'), onClear: () => set(ALL) } : undefined}
            actions={<NewRows count={fresh} onShow={() => void restart()} />}
            flush
          >
            <VirtualRows
              label={t('rows.label')}
              rows={rows}
              keyOf={(row) => row.id}
              rowHeight={54}
              selectedKey={sel || null}
              onSelect={(row) => set({ sel: row.id }, { replace: true })}
              {...(lowest?.truncated ? {} : { onEndReached: more })}
              loadingMore={loadingMore}
              render={(row) => <AuditLine row={row} />}
            />
            {lowest?.truncated && (
              <div className={classes['further']}>
                <Text size="sm">{t('rows.truncated')}</Text>
                <Button variant="default" loading={loadingMore} onClick={more}>
                  {t('rows.lookFurther')}
                </Button>
              </div>
            )}
          </Panel>
        }
        right={
          chosen ? (
            <AuditDetail key={chosen.id} row={chosen} />
          ) : (
            <Panel label={t('row.none.title')}>
              <Empty {...t('row.none', { returnObjects: true })} />
            </Panel>
          )
        }
      />
    </Page>
  );
}
