// A note that a person writes for later runs.
import { Button, Group, Modal, Select, Stack, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { ErrorCard } from '@/parts/ErrorCard';
import { notify } from '@/parts/undoable';
import { createNote, EVERYONE, MOST_CONTENT, useBankChanged, useRoles } from './queries';

export function NewNoteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation(['bank', 'common']);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('note.title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {opened && <NoteForm onClose={onClose} />}
    </Modal>
  );
}

function NoteForm({ onClose }: { onClose: () => void }) {
  const { t, i18n } = useTranslation(['bank', 'common']);
  const navigate = useNavigate();
  const changed = useBankChanged();
  const roles = useRoles().data ?? [EVERYONE];
  const [content, setContent] = useState('');
  const [role, setRole] = useState(EVERYONE);
  const [tried, setTried] = useState(false);
  const long = [...content].length > MOST_CONTENT;
  const writing = useMutation({
    mutationFn: () => createNote({ content, role }),
    onSuccess: async (made) => {
      notify(t('note.done'));
      onClose();
      await changed();
      await navigate({ to: '/ui/rb/$id', params: { id: made.mem_id } });
    },
  });
  const most = MOST_CONTENT.toLocaleString(localeTag(i18n.language));
  const problem = long ? t('note.tooLong', { most }) : tried && !content.trim() ? t('note.empty') : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (content.trim() && !long && !writing.isPending) writing.mutate();
      }}
    >
      <Stack gap="md">
        <Textarea
          label={t('note.content')}
          description={t('note.contentHint')}
          value={content}
          onChange={(event) => setContent(event.currentTarget.value)}
          error={problem}
          autosize
          minRows={4}
          maxRows={14}
          data-autofocus
        />
        <Select
          label={t('note.role')}
          description={t('note.roleHint')}
          w={240}
          allowDeselect={false}
          value={role}
          onChange={(value) => setRole(value ?? EVERYONE)}
          data={roles}
        />
        {writing.isError && <ErrorCard error={writing.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            {t('common:cancel')}
          </Button>
          <Button type="submit" loading={writing.isPending}>
            {t('note.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
