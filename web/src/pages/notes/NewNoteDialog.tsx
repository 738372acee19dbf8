// Writing a new note: where it shall stand, what it says, how important it is and when agents should look at it.
import { Button, Group, Modal, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { ErrorCard } from '@/parts/ErrorCard';
import { memoryPage } from '@/parts/reference';
import { Ref } from '@/parts/Ref';
import { notify } from '@/parts/undoable';
import { PRIORITIES } from './addresses';
import { useNotesChanged } from './queries';
import { createNote } from './writes';

type Props = { opened: boolean; suggested: string; onClose: () => void };

const USUAL = 5;
const ADDRESS = /^[a-z][a-z0-9+.-]{0,31}:\/\/.*[^/\s]/i;

export function NewNoteDialog({ opened, suggested, onClose }: Props) {
  const { t } = useTranslation(['notes', 'common']);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('new.title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {opened && <NewNoteForm suggested={suggested} onClose={onClose} />}
    </Modal>
  );
}

function NewNoteForm({ suggested, onClose }: Omit<Props, 'opened'>) {
  const { t } = useTranslation(['notes', 'common']);
  const navigate = useNavigate();
  const changed = useNotesChanged();
  const [uri, setUri] = useState(suggested);
  const [content, setContent] = useState('');
  const [priority, setPriority] = useState(USUAL);
  const [disclosure, setDisclosure] = useState('');
  const [tried, setTried] = useState(false);
  const write = useMutation({
    mutationFn: () => createNote({ uri: uri.trim(), content, priority, disclosure: disclosure.trim() }),
    onSuccess: async (written) => {
      await changed();
      notify(t('new.done', { uri: written.uri }));
      await navigate({ to: memoryPage(written.uri) ?? '.' });
    },
  });
  const { reset } = write;
  useEffect(() => reset(), [uri, reset]);
  const taken = write.error instanceof ApiError && write.error.details['reason'] === 'note_exists';
  const odd = tried && !ADDRESS.test(uri.trim()) ? t('new.oddAddress') : null;
  const empty = tried && !content.trim() ? t('new.noContent') : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (ADDRESS.test(uri.trim()) && content.trim()) write.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput
          label={t('new.address')}
          description={t('new.addressHint')}
          placeholder="project://config/port"
          value={uri}
          onChange={(event) => setUri(event.currentTarget.value)}
          error={odd}
          required
          withAsterisk={false}
          spellCheck={false}
          autoComplete="off"
          data-autofocus
        />
        <Textarea
          label={t('new.content')}
          description={t('new.contentHint')}
          value={content}
          onChange={(event) => setContent(event.currentTarget.value)}
          error={empty}
          autosize
          minRows={5}
          maxRows={16}
        />
        <Group align="flex-start" gap="md" wrap="wrap">
          <NumberInput
            label={t('priority.label')}
            description={t('priority.hint')}
            w={180}
            min={PRIORITIES.from}
            max={PRIORITIES.to}
            value={priority}
            onChange={(value) => setPriority(typeof value === 'number' ? value : USUAL)}
            allowDecimal={false}
          />
          <TextInput
            label={t('disclosure.label')}
            description={t('disclosure.hint')}
            flex="1 1 240px"
            value={disclosure}
            onChange={(event) => setDisclosure(event.currentTarget.value)}
          />
        </Group>
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
            {t('new.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
