// Writing a new note or a note for later runs of the lab: what it says, and where or for whom it shall stand.
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { createLesson } from '@/api/lab';
import { useMemoriesChanged } from '@/api/life';
import { createNote } from '@/api/notes';
import { NoteFields, RoleSelect, submitOnCtrlEnter } from './EditDialog';
import { ErrorCard } from '../ErrorCard';
import { Ref } from '../Ref';
import { pageOf } from '../reference';
import { notify } from '../undoable';

type Props = { kind: 'note' | 'lesson'; opened: boolean; suggested?: string; onClose: () => void };

const USUAL = { priority: 5, disclosure: '', role: 'global' };
const ADDRESS = /^[a-z][a-z0-9+.-]{0,31}:\/\/.*[^/\s]/i;

export function NewDialog({ opened, onClose, ...rest }: Props) {
  const { t } = useTranslation(['notes', 'bank', 'common']);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={rest.kind === 'note' ? t('new.title') : t('bank:note.title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {opened && <Form {...rest} onClose={onClose} />}
    </Modal>
  );
}

function Form({ kind, suggested = '', onClose }: Omit<Props, 'opened'>) {
  const { t } = useTranslation(['notes', 'bank', 'common']);
  const navigate = useNavigate();
  const changed = useMemoriesChanged();
  const [uri, setUri] = useState(suggested);
  const [content, setContent] = useState('');
  const [more, setMore] = useState(USUAL);
  const [tried, setTried] = useState(false);
  const noted = kind === 'note';
  const write = useMutation({
    mutationFn: async () => {
      if (!noted) return `mem:${(await createLesson({ content, role: more.role })).mem_id}`;
      const { priority, disclosure } = more;
      return (await createNote({ uri: uri.trim(), content, priority, disclosure: disclosure.trim() })).uri;
    },
    onSuccess: async (made) => {
      notify(noted ? t('new.done', { uri: made }) : t('bank:note.done'));
      await navigate({ to: pageOf(made) ?? '.' });
      await changed();
    },
  });
  const { reset } = write;
  useEffect(() => reset(), [uri, reset]);
  const named = !noted || ADDRESS.test(uri.trim());
  const taken = write.error instanceof ApiError && write.error.details['reason'] === 'note_exists';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (named && content.trim() && !write.isPending) write.mutate();
      }}
    >
      <Stack gap="md">
        {noted && (
          <TextInput
            label={t('new.address')}
            description={t('new.addressHint')}
            placeholder="project://config/port"
            value={uri}
            onChange={(event) => setUri(event.currentTarget.value)}
            error={tried && !named ? t('new.oddAddress') : null}
            required
            withAsterisk={false}
            spellCheck={false}
            autoComplete="off"
            data-autofocus
          />
        )}
        <Textarea
          label={noted ? t('new.content') : t('bank:note.content')}
          description={noted ? t('new.contentHint') : t('bank:note.contentHint')}
          value={content}
          onChange={(event) => setContent(event.currentTarget.value)}
          onKeyDown={submitOnCtrlEnter}
          error={tried && !content.trim() ? t('new.noContent') : null}
          autosize
          minRows={5}
          maxRows={16}
          data-autofocus={noted ? undefined : true}
        />
        {noted ? (
          <NoteFields draft={more} onChange={(part) => setMore({ ...more, ...part })} />
        ) : (
          <RoleSelect value={more.role} onChange={(role) => setMore({ ...more, role })} />
        )}
        {taken ? (
          <Text size="sm" role="alert">
            {t('new.taken')} <Ref reference={uri.trim()} copy={false} />
          </Text>
        ) : (
          write.isError && <ErrorCard error={write.error} />
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            {t('common:cancel')}
          </Button>
          <Button type="submit" loading={write.isPending}>
            {noted ? t('new.create') : t('bank:note.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
