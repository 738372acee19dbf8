// What a memory says, now or in an earlier version, and what is known about it.
import { Badge, Button, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { IconArrowBackUp, IconX } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { livingOf, useMemoriesChanged, type WholeMemory } from '@/api/life';
import { IconAct } from '@/parts/IconAct';
import { Facts } from '@/parts/Facts';
import acts from '@/parts/acts/Acts.module.css';
import { Copied, CopyButton } from '@/parts/CopyButton';
import { isMarkdown, listOf, MemoryText, textOf } from '@/parts/MemoryText';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import { localeTag } from '@/i18n';
import { isCore } from '@/parts/PriorityBadge';
import { LifeMarks, useActorName, useOriginName } from '@/parts/acts/LifeMarks';
import { useTypeWord } from '@/parts/KindMark';
import { Ref } from '@/parts/Ref';
import { TextLink } from '@/parts/TextLink';
import { notifyError, undoable } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { addAlias, removeAlias } from '@/api/notes';
import { diffQuery, type PageState, type Provenance, type SetPageState } from './queries';
import { RollbackDialog } from './VersionsTab';
import classes from './Memory.module.css';
import lines from './Lineage.module.css';

type Props = { memory: WholeMemory; from: Provenance | undefined; state: PageState; set: SetPageState };

export function TextTab({ memory, from, state, set }: Props) {
  const { t } = useTranslation('memory');
  const { v } = state;
  if (v !== null && v !== memory.version) return <Earlier memory={memory} version={v} state={state} set={set} />;
  return (
    <div className={classes['columns']}>
      <div className={`${classes['column']} column`}>
        <Panel title={t('tabs.text')} actions={<Manner memory={memory} state={state} set={set} />}>
          <MemoryText memory={memory} source={state.view === 'source'} />
        </Panel>
        {memory.kind === 'note' && <Names memory={memory} />}
      </div>
      <About memory={memory} from={from} />
    </div>
  );
}

function Manner({ memory, state, set }: Omit<Props, 'from'>) {
  const { t } = useTranslation(['memory', 'common']);
  if (!isMarkdown(memory)) return null;
  return (
    <>
      <SegmentedControl
        aria-label={t('manner')}
        data={[
          { value: 'rendered', label: t('rendered') },
          { value: 'source', label: t('source') },
        ]}
        value={state.view}
        onChange={(value) => set({ view: value === 'source' ? 'source' : 'rendered' }, { replace: true })}
      />
      <CopyButton value={memory.content} label={t('common:text')} />
    </>
  );
}

/** An earlier version, read in place of the current one. */
function Earlier({ memory, version, state, set }: Omit<Props, 'from'> & { version: number }) {
  const actorName = useActorName();
  const { t } = useTranslation('memory');
  const query = useQuery(diffQuery(String(memory.seq), version, memory.version));
  const [asked, setAsked] = useState(false);
  return (
    <div className={`${classes['column']} column`}>
      <div className={acts['notice']} role="status">
        <span>{t('old.notice', { version, current: memory.version })}</span>
        <Button variant="default" onClick={() => set({ v: null })}>
          {t('old.now')}
        </Button>
        <Button
          variant="default"
          onClick={() => set({ tab: 'versions', v: null, diff: `${version}..${memory.version}` })}
        >
          {t('old.compare')}
        </Button>
        <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => setAsked(true)}>
          {t('rollback.open', { version })}
        </Button>
      </div>
      <Panel
        title={t('old.title', { version })}
        state={query}
        actions={<Manner memory={memory} state={state} set={set} />}
      >
        {({ before: said }) => (
          <>
            <p className="muted">
              {t('by', { who: actorName(said.actor) })} · <TimeText at={said.created_ms} />
            </p>
            <MemoryText
              memory={{ ...memory, content: said.content, title: said.title, attrs: {} }}
              source={state.view === 'source'}
            />
          </>
        )}
      </Panel>
      <RollbackDialog
        memory={memory}
        version={asked ? version : null}
        onClose={() => setAsked(false)}
        onDone={() => set({ v: null }, { replace: true })}
      />
    </div>
  );
}

type Fact = readonly [string, ReactNode];
type AboutProps = { memory: WholeMemory; from: Provenance | undefined };

/** What is known about a memory beside what it says; each kind adds what only it has. */
function About({ memory, from }: AboutProps) {
  const { t } = useTranslation(['memory', 'common']);
  const { life, marks, origin } = livingOf(memory);
  const originName = useOriginName();
  const own = useOwnFacts(memory);
  const session = from?.session;
  const turn = memory.attrs['prompt_number'];
  return (
    <Panel title={t('about')}>
      <Facts
        facts={[
          [t('fact.state'), <LifeMarks key="state" life={life} marks={marks} all />],
          ...own,
          [t('fact.project'), memory.project || t('fact.everywhere')],
          [
            t('fact.session'),
            session &&
              (session.id !== null ? (
                <TextLink to={`/ui/sessions/${session.id}?sel=m${memory.seq}`}>
                  {t('fact.sessionOf', { number: session.id })}
                </TextLink>
              ) : (
                session.key
              )),
          ],
          [t('fact.agent'), session?.platform],
          [t('fact.turn'), typeof turn === 'number' && turn],
          [t('fact.created'), <TimeText key="created" at={memory.created_ms} />],
          [t('fact.updated'), memory.updated_ms !== memory.created_ms && <TimeText at={memory.updated_ms} />],
          [t('fact.writtenBy'), originName(origin)],
          [t('fact.imported'), from?.memory.imported],
          [t('fact.id'), <Copied key="id" value={memory.id} label={t('common:id')} />],
        ]}
      />
    </Panel>
  );
}

function useOwnFacts({ kind, type, attrs, priority, confidence, content }: WholeMemory): Fact[] {
  const { t, i18n } = useTranslation('memory');
  const word = useTypeWord();
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const spent = attrs['discovery_tokens'];
  const size: Fact = [t('fact.size'), t('fact.chars', { count: content.length, number: number(content.length) })];
  switch (kind) {
    case 'note':
      return [
        [t('fact.priority'), t(isCore(priority) ? 'fact.core' : 'fact.usual', { priority })],
        [t('fact.disclosure'), textOf(attrs['disclosure']) || t('fact.noDisclosure')],
        size,
      ];
    case 'lesson': {
      const runs = listOf(attrs['runs']);
      return [
        [t('fact.role'), textOf(attrs['role']) || 'global'],
        [
          t('fact.runs'),
          runs.length > 0 && (
            <Stack gap={2}>
              {runs.map((run) => (
                <Ref key={run} reference={run} />
              ))}
            </Stack>
          ),
        ],
        [t('fact.byHand'), attrs['by_hand'] === true && t('fact.byHandWhy')],
        [t('fact.confidence'), confidence.toFixed(2)],
      ];
    }
    case 'qa':
      return [
        [t('fact.confidence'), confidence.toFixed(2)],
        [t('fact.author'), textOf(attrs['author'])],
        [t('fact.source'), textOf(attrs['source'])],
      ];
    case 'observation':
      return [
        [
          t('fact.type'),
          type && <TextLink to={`/ui/memories?type=${encodeURIComponent(type)}`}>{word(type)}</TextLink>,
        ],
        [t('fact.spent'), typeof spent === 'number' && spent > 0 && t('fact.tokens', { number: number(spent) })],
      ];
    default:
      return [size];
  }
}

/**
 * Other addresses of the same note. Adding and taking away is cheap and can be taken back, so nothing is asked first.
 */
function Names({ memory }: { memory: WholeMemory }) {
  const [uri = '', ...aliases] = memory.uris;
  const deleted = memory.life === 'hidden';
  const { t } = useTranslation('memory');
  const changed = useMemoriesChanged();
  const [alias, setAlias] = useState('');
  const remove = useMutation({
    mutationFn: (name: string) => removeAlias(uri, name),
    onSuccess: async (_, name) => {
      await changed();
      undoable(t('aliases.removed', { alias: name }), async () => {
        await addAlias(uri, name);
        await changed();
      });
    },
    onError: (error) => notifyError(reasonOf(error)),
  });
  // What is being taken away is gone from the list at once.
  const shown = aliases.filter((each) => !(remove.isPending && remove.variables === each));
  return (
    <Panel title={t('aliases.title')} flush>
      <ul className="plain">
        <li className={lines['item']}>
          <span className={`${lines['relative']} column`}>
            <Ref reference={uri} />
          </span>
          <Badge color="slate">{t('aliases.primary')}</Badge>
        </li>
        {shown.map((each) => (
          <li key={each} className={lines['item']}>
            <span className={`${lines['relative']} column`}>
              <Ref reference={each} />
            </span>
            {!deleted && (
              <IconAct
                label={t('aliases.remove', { alias: each })}
                icon={IconX}
                size={24}
                run={() => remove.mutate(each)}
              />
            )}
          </li>
        ))}
      </ul>
      {deleted ? (
        <p className={lines['hint']}>{t('aliases.deleted')}</p>
      ) : (
        <AddAlias memory={memory} alias={alias} setAlias={setAlias} />
      )}
    </Panel>
  );
}

function AddAlias({
  memory,
  alias,
  setAlias,
}: {
  memory: WholeMemory;
  alias: string;
  setAlias: (alias: string) => void;
}) {
  const { t } = useTranslation('memory');
  const changed = useMemoriesChanged();
  const add = useMutation({
    mutationFn: (name: string) => addAlias(memory.uris[0] ?? '', name),
    onSuccess: async (written) => {
      const name = written.note.aliases.find((each) => !memory.uris.includes(each)) ?? '';
      setAlias('');
      await changed();
      undoable(t('aliases.added', { alias: name }), async () => {
        await removeAlias(memory.uris[0] ?? '', name);
        await changed();
      });
    },
  });
  return (
    <form
      className={lines['add']}
      onSubmit={(event) => {
        event.preventDefault();
        if (alias.trim()) add.mutate(alias.trim());
      }}
    >
      <TextInput
        flex="1 1 260px"
        label={t('aliases.add')}
        placeholder="project://port"
        value={alias}
        onChange={(event) => {
          setAlias(event.currentTarget.value);
          add.reset();
        }}
        error={add.isError}
        spellCheck={false}
        autoComplete="off"
      />
      <Button type="submit" disabled={!alias.trim()} loading={add.isPending}>
        {t('aliases.addButton')}
      </Button>
      <p className={lines['hint']}>{t('aliases.hint')}</p>
      {add.isError && (
        <p className={lines['hint']} data-error role="alert">
          {reasonOf(add.error)}
        </p>
      )}
    </form>
  );
}
