// What tools agents asked for, and what was decided.
import '@mantine/core/styles/Alert.layer.css';
import { Alert, Autocomplete, Button, Group, Text, TextInput } from '@mantine/core';
import { IconDownload, IconLink, IconLinkOff } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { saveAs } from '@/api/client';
import { usePages } from '@/api/queries';
import { usePreferences } from '@/app/preferences';
import { choice, text, useSearchState } from '@/app/searchState';
import { FilterSelect } from '@/parts/FilterSelect';
import { NewRows } from '@/parts/NewRows';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { localeTag } from '@/i18n';
import { CommandLine } from '@/parts/CommandLine';
import { FilterFold } from '@/parts/FilterFold';
import { AuditDetail, AuditLine } from './AuditDetail';
import classes from './Audit.module.css';
import {
  type AuditFilter,
  type AuditItem,
  auditPage,
  type AuditPageOf,
  CHAINS,
  type Damage,
  DECISIONS,
  freshOf,
  KINDS,
  useDamage,
  useNewest,
} from './queries';

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
  const { query, rows, more, restart, hasMore, loadingMore } = usePages<AuditItem>(
    ['audit', 'rows', filter, clock],
    (cursor) => auditPage(filter, clock, cursor),
  );
  const newest = useNewest().data;
  // Which days the newest rows belong to is the server's to say.
  const fresh = newest && query.isSuccess && !filter.from && !filter.to ? freshOf(newest, filter, rows) : 0;
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
          ) : rows.length || query.isPending ? (
            <Panel label={t('row.none.title')}>
              <Empty {...t('row.none', { returnObjects: true })} />
            </Panel>
          ) : null
        }
      />
    </Page>
  );
}

/** Whether the logs that arrived are whole: each row names the one before it, and the server checks that. */
function ChainState({ onShow }: { onShow: (damage: Damage) => void }) {
  const { t, i18n } = useTranslation('qa');
  const broken = useDamage('broken').data;
  const forked = useDamage('forked').data;
  const unknown = useDamage('unknown').data;
  if (!broken || !forked || !unknown) return <div className={classes['sound']} />;
  const looked = [broken, forked, unknown];
  if (looked.every(({ scanned }) => scanned === 0)) return null;
  const bad = broken.items[0] ?? forked.items[0];
  const gap = unknown.items[0];
  const number = Math.max(...looked.map(({ scanned }) => scanned)).toLocaleString(localeTag(i18n.language));
  const sound = looked.some(({ truncated }) => truncated) ? t('chain.soundSome', { number }) : t('chain.sound');
  const show = (damage: Damage, there: boolean) =>
    there && (
      <Button variant="default" size="compact-xs" onClick={() => onShow(damage)}>
        {t(`chain.show.${damage}`)}
      </Button>
    );
  const buttons = (
    <>
      {show('broken', broken.items.length > 0)}
      {show('forked', forked.items.length > 0)}
      {show('unknown', gap !== undefined)}
    </>
  );
  if (bad) {
    const title = t('chain.bad', { seq: bad.seq, log: bad.log.slice(0, 8) });
    return (
      <Alert color="red" icon={<IconLinkOff size={18} />} title={title} role="alert">
        <Group gap="sm">
          {buttons}
          <Seal />
        </Group>
      </Alert>
    );
  }
  return (
    <div className={classes['sound']} role="status" data-gap={gap ? true : undefined}>
      {gap ? <IconLinkOff size={16} aria-hidden /> : <IconLink size={16} aria-hidden />}
      <span>{gap ? t('chain.gap', { seq: gap.seq, log: gap.log.slice(0, 8) }) : sound}</span>
      {buttons}
      <Seal />
    </div>
  );
}

function Seal() {
  const { t } = useTranslation('qa');
  return (
    <span className={classes['seal']}>
      <span>{t('chain.seal')}</span>
      <CommandLine command="mem-codecli audit verify" />
    </span>
  );
}

type Props = {
  filter: AuditFilter;
  /** Rows whose tools and projects are offered. */
  known: readonly AuditItem[];
  onChange: (change: Partial<AuditFilter>) => void;
};

const OFFERED = 100;

/** Which rows; the server looks for tools and projects by their whole name. */
function AuditFilters({ filter, known, onChange }: Props) {
  const { t } = useTranslation(['qa', 'common']);
  const names = (of: (row: AuditItem) => string | null | undefined) =>
    [...new Set(known.map(of).filter((name): name is string => Boolean(name)))].sort().slice(0, OFFERED);
  return (
    <FilterFold values={Object.values(filter)}>
      <Name
        label={t('by.tool')}
        placeholder={t('by.anyTool')}
        value={filter.tool}
        offered={names((row) => row.tool)}
        onChange={(tool) => onChange({ tool })}
      />
      <FilterSelect
        label={t('by.decision')}
        unset={t('by.any')}
        words={DECISIONS}
        nameOf={(word) => t(`common:status.${word}`)}
        value={filter.decision}
        onChange={(decision) => onChange({ decision })}
        w={110}
      />
      <FilterSelect
        label={t('by.kind')}
        unset={t('by.any')}
        words={KINDS}
        nameOf={(word) => t(`kind.${word}`)}
        value={filter.kind}
        onChange={(kind) => onChange({ kind })}
        w={160}
      />
      <FilterSelect
        label={t('by.chain')}
        unset={t('by.any')}
        words={CHAINS}
        nameOf={(word) => t(`chain.${word}`)}
        value={filter.chain}
        onChange={(chain) => onChange({ chain })}
        w={110}
      />
      <Name
        label={t('by.project')}
        placeholder={t('by.anyProject')}
        value={filter.project}
        offered={names((row) => row.project_id)}
        onChange={(project) => onChange({ project })}
      />
      {(['from', 'to'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          label={t(`by.${name}`)}
          value={filter[name]}
          {...(name === 'from' ? { max: filter.to || undefined } : { min: filter.from || undefined })}
          onChange={(event) => onChange({ [name]: event.currentTarget.value })}
        />
      ))}
    </FilterFold>
  );
}

type NameProps = {
  label: string;
  placeholder: string;
  value: string;
  offered: string[];
  onChange: (value: string) => void;
};

/** A name that counts once it is whole: with Enter, by a choice, or on leaving the field. */
function Name({ label, placeholder, value, offered, onChange }: NameProps) {
  const [typed, setTyped] = useState(value);
  // Back, forward and "clear filters" change it from outside.
  useEffect(() => setTyped(value), [value]);
  const choose = (name: string) => name.trim() !== value && onChange(name.trim());
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      size="xs"
      w={160}
      data={offered}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={choose}
      onBlur={() => choose(typed)}
      onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && choose(typed)}
    />
  );
}
