// One note: what it says and said, its names, what it is connected with, and everything that can be done with it.
import { Badge, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { useSearchState } from '@/app/searchState';
import { useShortcuts } from '@/app/useShortcuts';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { AliasesTab } from './AliasesTab';
import { BesideTree } from './BesideTree';
import { ContentTab } from './ContentTab';
import { DeleteDialog } from './DeleteDialog';
import { ForgetDialog } from './ForgetDialog';
import { NoteActions } from './NoteActions';
import { NoteFacts } from './NoteFacts';
import { AliasNotice, DeletedNotice } from './notices';
import { NOTE_STATE, TABS, type NoteState, type SetNoteState } from './noteState';
import { NothingThere } from './NothingThere';
import { noteQuery, type Note } from './queries';
import { RelationsTab } from './RelationsTab';
import { VersionsTab } from './VersionsTab';
import classes from './Note.module.css';

export function NotePage({ uri }: { uri: string }) {
  const { t } = useTranslation('notes');
  const query = useQuery(noteQuery(uri));
  const [state, set] = useSearchState(NOTE_STATE);
  const [asked, setAsked] = useState<Asked>(null);
  const note = query.data;
  const missing = query.error instanceof ApiError && query.error.details['reason'] === 'no_note';
  const edit = () => set({ tab: 'content', edit: true, v: null });
  useShortcuts([
    ...(note?.deleted || missing ? [] : [{ keys: 'e', label: t('actions.edit'), run: edit }]),
    { keys: 'w', label: t('actions.why'), run: () => set({ why: true }) },
  ]);
  const actions = note && (
    <NoteActions note={note} editing={state.edit} onEdit={edit} onWhy={() => set({ why: true })} onAsk={setAsked} />
  );
  return (
    <Page title={uri} description={note && <NoteFacts note={note} />} actions={actions}>
      <BesideTree uri={note?.uri ?? uri}>
        {missing ? (
          <NothingThere uri={uri} />
        ) : note ? (
          <>
            {note.uri !== uri && <AliasNotice uri={note.uri} />}
            {note.deleted && <DeletedNotice note={note} />}
            <NoteTabs note={note} state={state} set={set} />
          </>
        ) : (
          <Panel state={query} label={t('memory')}>
            {null}
          </Panel>
        )}
      </BesideTree>
      {note && <Dialogs note={note} asked={asked} onClose={() => setAsked(null)} />}
      <ProvenanceDrawer
        reference={note && state.why ? note.ref : null}
        onClose={() => set({ why: false }, { replace: true })}
      />
    </Page>
  );
}

type Asked = 'delete' | 'forget' | null;

function Dialogs({ note, asked, onClose }: { note: Note; asked: Asked; onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <>
      <DeleteDialog note={note} opened={asked === 'delete'} onClose={onClose} />
      <ForgetDialog
        note={note}
        opened={asked === 'forget'}
        onClose={onClose}
        onGone={() => void navigate({ to: '/ui/memories' })}
      />
    </>
  );
}

function NoteTabs({ note, state, set }: { note: Note; state: NoteState; set: SetNoteState }) {
  const { t } = useTranslation('notes');
  const { version: versions, aliases, relations } = note;
  const counts = { content: null, versions, aliases: aliases.length, relations: relations.length };
  return (
    <Tabs
      value={state.tab}
      onChange={(value) => set({ tab: TABS.find((each) => each === value) ?? 'content', edit: false })}
    >
      <Tabs.List>
        {TABS.map((tab) => (
          <Tabs.Tab
            key={tab}
            value={tab}
            rightSection={counts[tab] ? <Badge color="slate">{counts[tab]}</Badge> : undefined}
          >
            {t(`tabs.${tab}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="content" className={classes['tab']}>
        <ContentTab note={note} state={state} set={set} />
      </Tabs.Panel>
      <Tabs.Panel value="versions" className={classes['tab']}>
        <VersionsTab note={note} state={state} set={set} />
      </Tabs.Panel>
      <Tabs.Panel value="aliases" className={classes['tab']}>
        <AliasesTab note={note} />
      </Tabs.Panel>
      <Tabs.Panel value="relations" className={classes['tab']}>
        <RelationsTab note={note} />
      </Tabs.Panel>
    </Tabs>
  );
}
