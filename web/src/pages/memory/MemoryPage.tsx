// One memory of any kind: what it says and said, where it comes from and what came of it, to whom it was told, and
// what can be done with it.
import '@mantine/core/styles/Tabs.layer.css';
import { Badge, Button, Group, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconPlus } from '@tabler/icons-react';
import { ApiError } from '@/api/client';
import { livingOf, memoryQuery, useMemoriesChanged, type WholeMemory } from '@/api/life';
import { useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { EditDialog } from '@/parts/acts/EditDialog';
import { ForgetDialog } from '@/parts/acts/ForgetDialog';
import { MemoryActs } from '@/parts/acts/MemoryActs';
import { useActs } from '@/parts/acts/useActs';
import { plainLine } from '@/parts/snippet';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import { pageOf, uriOf } from '@/parts/reference';
import { PriorityBadge } from '@/parts/PriorityBadge';
import { LifeMarks, useActorName } from '@/parts/acts/LifeMarks';
import { KindMark } from '@/parts/KindMark';
import { Ref } from '@/parts/Ref';
import { TextLink } from '@/parts/TextLink';
import { exactTime, TimeText } from '@/parts/TimeText';
import { NewDialog } from '@/parts/acts/NewDialog';
import { usePreferences } from '@/app/preferences';
import { BringBack } from '@/parts/acts/BringBack';
import { LineageStrip, LineageTab } from './LineageTab';
import { neighbours, type Provenance, provenanceQuery, STATE, type Tab, TABS, WATCH_MS } from './queries';
import { TextTab } from './TextTab';
import { ToldTab } from './ToldTab';
import { VersionsTab } from './VersionsTab';
import classes from './Memory.module.css';
import acts from '@/parts/acts/Acts.module.css';

/** The address names it: by number, by id, or by its own address. */
export function MemoryPage() {
  const { _splat, ref = '', id } = useParams({ strict: false });
  const reference = _splat !== undefined ? uriOf(_splat) : id !== undefined ? `mem:${id}` : ref;
  // A new address is a new page: nothing half-written is carried over.
  return <Named key={reference} reference={reference} />;
}

function Named({ reference }: { reference: string }) {
  const { t } = useTranslation('memory');
  const query = useQuery({
    ...memoryQuery(reference),
    refetchInterval: ({ state }) => (state.status === 'success' ? WATCH_MS : false),
  });
  const from = useQuery(provenanceQuery(reference));
  const [, set] = useSearchState(STATE);
  // Also before the page is there: a key that is pressed early must not be lost.
  const editable = !query.isError && (!query.data || livingOf(query.data).life !== 'hidden');
  useShortcuts([
    ...(editable ? [{ keys: 'e', label: t('keys.edit'), run: () => set({ edit: true }) }] : []),
    { keys: 'w', label: t('keys.why'), run: () => set({ tab: 'lineage' }) },
  ]);
  // Both at once: the page would move under the reader's eyes if its head grew after its text.
  if (query.data && !from.isPending) return <Found reference={reference} memory={query.data} from={from.data} />;
  const missing = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Page title={/^[SP]?\d+$/i.test(reference) ? `#${reference}` : reference}>
      {missing && reference.includes('://') ? (
        <NothingThere uri={reference} />
      ) : (
        <Panel label={t('memory')} state={query}>
          {null}
        </Panel>
      )}
    </Page>
  );
}

type Props = { reference: string; memory: WholeMemory; from: Provenance | undefined };

function Found({ reference, memory, from }: Props) {
  const { t } = useTranslation('memory');
  const [state, set] = useSearchState(STATE);
  const [forgets, setForgets] = useState(false);
  const navigate = useNavigate();
  const changed = useMemoriesChanged();
  const { perform } = useActs();
  const living = livingOf(memory);
  const name = useName()(memory);
  const { newer, older } = useNeighbours(memory);
  const go = (to: { ref: string } | undefined) => to && void navigate({ to: pageOf(to.ref) ?? '.' });
  const edit = () => set({ edit: true });
  const editable = living.life !== 'hidden';
  useShortcuts([
    { keys: 'j', label: t('older'), run: () => go(older) },
    { keys: 'k', label: t('newer'), run: () => go(newer) },
  ]);
  return (
    <Page
      title={name}
      description={<Head memory={memory} from={from} newer={newer?.ref} older={older?.ref} />}
      actions={<MemoryActs memory={living} onEdit={edit} onForget={() => setForgets(true)} />}
    >
      <Notices reference={reference} memory={memory} from={from} />
      <LineageStrip memory={memory} from={from} />
      <Parts memory={memory} from={from} tab={state.why ? 'lineage' : state.tab} />
      {state.edit && editable && (
        <EditDialog memory={living} perform={perform} onClose={() => set({ edit: false }, { replace: true })} />
      )}
      <ForgetDialog
        opened={forgets}
        onClose={() => setForgets(false)}
        what={{ ids: [memory.seq] }}
        name={living.ref}
        onForgotten={(followed) => {
          const next = followed ? undefined : (older ?? newer);
          const search = (next ? { anchor: next.ref } : {}) as never;
          void navigate({ to: '/ui/memories', search, replace: true }).then(changed);
        }}
      />
    </Page>
  );
}

function useNeighbours({ seq, project }: WholeMemory) {
  const beside = useQuery({
    queryKey: ['memory', 'beside', seq, project],
    queryFn: ({ signal }) => neighbours(seq, project, signal),
  });
  return beside.data ?? { newer: undefined, older: undefined };
}

function Parts({ memory, from, tab }: { memory: WholeMemory; from: Provenance | undefined; tab: Tab }) {
  const { t } = useTranslation('memory');
  const [state, set] = useSearchState(STATE);
  const sessions = from ? `${from.told_to.length}${from.more_told ? '+' : ''}` : null;
  const counts: Record<Tab, string | null> = {
    text: null,
    versions: String(memory.version),
    lineage: null,
    told: sessions === '0' ? null : sessions,
  };
  return (
    <Tabs value={tab} onChange={(value) => set({ tab: STATE.tab.parse(value ?? ''), why: false, v: null })}>
      <Tabs.List aria-label={t('tabs.label')}>
        {TABS.map((each) => (
          <Tabs.Tab
            key={each}
            value={each}
            rightSection={counts[each] ? <Badge color="slate">{counts[each]}</Badge> : undefined}
          >
            {t(`tabs.${each}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} className={classes['tab']}>
        {tab === 'text' && <TextTab memory={memory} from={from} state={state} set={set} />}
        {tab === 'versions' && <VersionsTab memory={memory} state={state} set={set} />}
        {tab === 'lineage' && <LineageTab memory={memory} from={from} />}
        {tab === 'told' && <ToldTab from={from} />}
      </Tabs.Panel>
    </Tabs>
  );
}

const LONGEST = 120; // characters of a heading

/** A note is called by its address, everything else by what it says. */
function useName(): (memory: WholeMemory) => string {
  const { t } = useTranslation('timeline');
  return (memory) => {
    const { ref, title, kind } = livingOf(memory);
    if (kind === 'note') return ref;
    const name = kind === 'prompt' ? '' : plainLine(title.trim());
    if (!name) return t('numbered', { kind: t(`kind.${kind}`), ref });
    return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  };
}

type HeadProps = {
  memory: WholeMemory;
  from: Provenance | undefined;
  newer: string | undefined;
  older: string | undefined;
};

/** What a memory is called, and the line below: its reference, kind, state, version and neighbours. */
function Head({ memory, from, newer, older }: HeadProps) {
  const { t } = useTranslation('memory');
  const { ref, life, marks, kind } = livingOf(memory);
  const actor = from?.versions[0]?.actor;
  const actorName = useActorName();
  return (
    <span className={classes['head']}>
      <Ref reference={ref} />
      <KindMark kind={kind} type={kind === 'observation' ? memory.type : ''} />
      {kind === 'note' && <PriorityBadge priority={memory.priority} />}
      <LifeMarks life={life} marks={marks} />
      <span>{t('version', { version: memory.version })}</span>
      {actor && <span>{t('by', { who: actorName(actor) })}</span>}
      <TimeText at={memory.updated_ms} />
      <TextLink to={`/ui/memories?anchor=${encodeURIComponent(`#${memory.seq}`)}`}>{t('inList')}</TextLink>
      {kind === 'qa' && <TextLink to={`/ui/qa?sel=${encodeURIComponent(memory.id)}`}>{t('inReview')}</TextLink>}
      <Step to={newer} name={t('newer')} />
      <Step to={older} name={t('older')} />
    </span>
  );
}

function Step({ to, name }: { to: string | undefined; name: string }) {
  const page = to === undefined ? null : pageOf(to);
  return page && <TextLink to={page}>{name}</TextLink>;
}

/** An address at which nothing stands: why that may be, and how to write something there. */
function NothingThere({ uri }: { uri: string }) {
  const { t } = useTranslation('notes');
  const [writing, setWriting] = useState(false);
  return (
    <Panel label={t('list.label')}>
      <Empty title={t('nothing.title')} why={t('nothing.why')} command={`codexmem memory create ${uri} "…"`} />
      <Group justify="center" pb="lg">
        <Button leftSection={<IconPlus size={14} />} onClick={() => setWriting(true)}>
          {t('nothing.write')}
        </Button>
      </Group>
      <NewDialog kind="note" opened={writing} suggested={uri} onClose={() => setWriting(false)} />
    </Panel>
  );
}

type NoticesProps = { reference: string; memory: WholeMemory; from: Provenance | undefined };

/**
 * What a reader must know first: that the address is an alias, or that a memory is hidden, superseded or not approved.
 */
function Notices({ reference, memory, from }: NoticesProps) {
  const { t } = useTranslation('memory');
  const [uri] = memory.uris;
  const alias = uri !== undefined && memory.uris.slice(1).includes(reference);
  return (
    <>
      {alias && (
        <Notice>
          {t('aliases.visited')} <Ref reference={uri} copy={false} />
        </Notice>
      )}
      {from && <LifeNotice memory={memory} from={from} />}
    </>
  );
}

function LifeNotice({ memory, from }: { memory: WholeMemory; from: Provenance }) {
  const { t, i18n } = useTranslation('life');
  const { clock } = usePreferences();
  const actorName = useActorName();
  const { life } = livingOf(memory);
  if (life === 'hidden') {
    const hid = from.versions.find(({ op }) => op === 'delete' || op === 'archive') ?? from.versions[0];
    const delta = from.deltas.find(({ id }) => id === hid?.delta);
    const when = hid ? exactTime(hid.created_ms, i18n.language, clock) : '';
    // What was undone together comes back together; the button in the head brings back this one alone.
    return delta?.reverts ? (
      <BringBack text={t('undoneOn', { when })} delta={delta.id} action={t('bringBackAll')} />
    ) : (
      <Notice>{t('hiddenOn', { when, who: actorName(hid?.actor ?? '') })}</Notice>
    );
  }
  const heirs = from.linked_by.filter(({ relation }) => relation === 'supersedes');
  if (life === 'superseded' && heirs.length) {
    return (
      <Notice>
        {t('supersededBy')}
        {heirs.map((each) => (
          <TextLink key={each.seq} to={pageOf(each.label) ?? '#'}>
            {each.title || each.label}
          </TextLink>
        ))}
      </Notice>
    );
  }
  if (life === 'deprecated') return <Notice>{t('deprecatedWhy')}</Notice>;
  return life === 'proposed' ? <Notice>{t('proposedWhy')}</Notice> : null;
}

function Notice({ children }: { children: React.ReactNode }) {
  return (
    <div className={acts['notice']} role="status">
      {children}
    </div>
  );
}
