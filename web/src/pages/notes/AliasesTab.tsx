// Other addresses of the same note. Adding and taking away is cheap and can be taken back, so nothing is asked first.
import { ActionIcon, Badge, Button, TextInput, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { notifyError, undoable } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { useNotesChanged, type Note } from './queries';
import { addAlias, removeAlias } from './writes';
import classes from './Note.module.css';

export function AliasesTab({ note }: { note: Note }) {
  const { t } = useTranslation('notes');
  const changed = useNotesChanged();
  const [alias, setAlias] = useState('');
  const remove = useMutation({
    mutationFn: (name: string) => removeAlias(note.uri, name),
    onSuccess: async (_, name) => {
      await changed();
      undoable(t('aliases.removed', { alias: name }), async () => {
        await addAlias(note.uri, name);
        await changed();
      });
    },
    onError: (error) => notifyError(reasonOf(error)),
  });
  // What is being taken away is gone from the list at once.
  const shown = note.aliases.filter((each) => !(remove.isPending && remove.variables === each));
  return (
    <Panel title={t('aliases.title')} flush>
      <ul className={classes['items']}>
        <li className={classes['item']}>
          <span className={classes['grow']}>
            <Ref reference={note.uri} />
          </span>
          <Badge color="slate">{t('aliases.primary')}</Badge>
        </li>
        {shown.map((each) => (
          <li key={each} className={classes['item']}>
            <span className={classes['grow']}>
              <Ref reference={each} />
            </span>
            {!note.deleted && (
              <Tooltip label={t('aliases.remove', { alias: each })}>
                <ActionIcon
                  size={24}
                  aria-label={t('aliases.remove', { alias: each })}
                  onClick={() => remove.mutate(each)}
                >
                  <IconX size={14} />
                </ActionIcon>
              </Tooltip>
            )}
          </li>
        ))}
      </ul>
      {note.deleted ? (
        <p className={classes['foot']}>{t('aliases.deleted')}</p>
      ) : (
        <AddAlias note={note} alias={alias} setAlias={setAlias} />
      )}
    </Panel>
  );
}

function AddAlias({ note, alias, setAlias }: { note: Note; alias: string; setAlias: (alias: string) => void }) {
  const { t } = useTranslation('notes');
  const changed = useNotesChanged();
  const add = useMutation({
    mutationFn: (name: string) => addAlias(note.uri, name),
    onSuccess: async (written) => {
      const name = written.note.aliases.find((each) => !note.aliases.includes(each)) ?? '';
      setAlias('');
      await changed();
      undoable(t('aliases.added', { alias: name }), async () => {
        await removeAlias(note.uri, name);
        await changed();
      });
    },
  });
  return (
    <form
      className={classes['add']}
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
      <p className={classes['hint']}>{t('aliases.hint')}</p>
      {add.isError && (
        <p className={classes['hint']} data-error role="alert">
          {reasonOf(add.error)}
        </p>
      )}
    </form>
  );
}
