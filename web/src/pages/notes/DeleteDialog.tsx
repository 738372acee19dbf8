// Deleting a note hides it; what that means is told first, and it can be brought back.
import { List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { undoable } from '@/parts/undoable';
import { useNotesChanged, type Note } from './queries';
import { deleteNote, restoreNote } from './writes';

type Props = { note: Note; opened: boolean; onClose: () => void };

export function DeleteDialog({ note, opened, onClose }: Props) {
  const { t } = useTranslation('notes');
  const changed = useNotesChanged();
  const pointing = note.relations.filter((each) => each.direction === 'from').length;

  async function remove() {
    await deleteNote(note.uri, note.version);
    await changed();
    undoable(t('deleted.done', { uri: note.uri }), async () => {
      await restoreNote(note.uri);
      await changed();
    });
  }

  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t('deleted.title', { uri: note.uri })}
      impact={
        <Stack gap="sm">
          <Text size="sm">{t('deleted.impact')}</Text>
          <List size="sm" spacing={4}>
            <List.Item>{t('deleted.versions', { count: note.version })}</List.Item>
            {note.aliases.length > 0 && <List.Item>{t('deleted.aliases', { count: note.aliases.length })}</List.Item>}
            {pointing > 0 && <List.Item>{t('deleted.pointing', { count: pointing })}</List.Item>}
          </List>
        </Stack>
      }
      action={t('deleted.confirm')}
      onConfirm={remove}
    />
  );
}
