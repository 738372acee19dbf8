// A view such as system://boot: many notes under one address, made when it is read, as agents are told it.
import { Badge, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ReactNode } from 'react';
import { choice, useSearchState } from '@/app/searchState';
import { CopyButton } from '@/parts/CopyButton';
import { Markdown } from '@/parts/Markdown';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { memoryPage } from '@/parts/reference';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { VirtualRows } from '@/parts/VirtualRows';
import { viewName, VIEWS } from './addresses';
import { PriorityBadge } from '@/parts/PriorityBadge';
import { type NoteTold, viewQuery } from './queries';
import { AddressTree } from './AddressTree';
import { plainLine } from '@/parts/snippet';
import classes from './Note.module.css';

const EXAMPLE = 'codexmem memory create core://agent "…" --priority 0';
const SCHEMA = { view: choice(['rendered', 'source'], 'rendered') };

export function ViewPage() {
  const { _splat = '' } = useParams({ strict: false });
  const uri = `system://${_splat}`;
  const { t } = useTranslation(['notes', 'memory']);
  const navigate = useNavigate();
  const [state, set] = useSearchState(SCHEMA);
  const query = useQuery(viewQuery(uri));
  const name = viewName(uri);
  return (
    <Page
      title={uri}
      description={
        <span className={classes['facts']}>
          <CopyButton value={uri} label={t('address')} />
          <Badge color="slate">{t('tree.virtual')}</Badge>
          <span>{name ? t(`views.${name}`) : ''}</span>
        </span>
      }
      actions={
        <SegmentedControl
          aria-label={t('views.choose')}
          data={VIEWS.map((each) => ({ value: each, label: t(`views.short.${viewName(each) ?? 'index'}`) }))}
          value={name ? `system://${name}` : ''}
          onChange={(value) => void navigate({ to: memoryPage(value) ?? '.' })}
        />
      }
    >
      <BesideTree uri={uri}>
        <Panel
          title={t('views.content')}
          state={query}
          isEmpty={(told) => !told.items.length}
          empty={{ title: t('views.empty'), why: t('views.emptyWhy'), command: EXAMPLE }}
          degraded={query.data?.more ? t('views.more', { count: query.data.items.length }) : null}
          actions={
            query.data?.whole && (
              <SegmentedControl
                aria-label={t('memory:manner')}
                data={[
                  { value: 'rendered', label: t('memory:rendered') },
                  { value: 'source', label: t('memory:source') },
                ]}
                value={state.view}
                onChange={(value) => set({ view: value === 'source' ? 'source' : 'rendered' }, { replace: true })}
              />
            )
          }
          flush
        >
          {(told) => (told.whole ? <Whole rows={told.items} view={state.view} /> : <Lines rows={told.items} />)}
        </Panel>
      </BesideTree>
    </Page>
  );
}

/** Told in full: few, because every agent reads them at every start. */
function Whole({ rows, view }: { rows: readonly NoteTold[]; view: 'rendered' | 'source' }) {
  return (
    <ul className="plain">
      {rows.map((row) => (
        <li key={row.id} className={classes['told']}>
          <Line row={row} />
          {view === 'source' ? <TextBlock text={row.content ?? ''} mono /> : <Markdown text={row.content ?? ''} />}
        </li>
      ))}
    </ul>
  );
}

function Lines({ rows }: { rows: readonly NoteTold[] }) {
  const { t } = useTranslation('notes');
  const navigate = useNavigate();
  return (
    <VirtualRows
      rows={rows}
      keyOf={(row) => row.id}
      label={t('views.content')}
      height="62vh"
      onOpen={(row) => void navigate({ to: memoryPage(row.uri) ?? '.' })}
      render={(row) => <Line row={row} />}
    />
  );
}

function Line({ row }: { row: NoteTold }) {
  return (
    <div className="row grow gap12">
      <span className="cut grow">
        <Ref reference={row.uri} copy={false} />
        {row.content === null && <span className="muted"> {plainLine(row.headline)}</span>}
      </span>
      <PriorityBadge priority={row.priority} />
      <span className={classes['when']}>
        <TimeText at={row.updated_ms} />
      </span>
    </div>
  );
}

/** The tree of addresses beside what stands at one of them; a narrow screen has a link to it instead. */
function BesideTree({ uri, children }: { uri: string; children: ReactNode }) {
  const { t } = useTranslation('notes');
  const all = (
    <Link to="/ui/notes" className={classes['all']}>
      {t('tree.all')}
    </Link>
  );
  return (
    <div className={classes['columns']}>
      <aside className={classes['aside']} aria-label={t('tree.title')}>
        <Panel title={t('tree.title')} actions={all} flush>
          <AddressTree current={uri} />
        </Panel>
      </aside>
      <div className={classes['narrow']}>{all}</div>
      <div className="column gap12">{children}</div>
    </div>
  );
}
