// Forgetting for good: every version goes, and nothing brings it back. What goes is shown, and the name must be typed.
import { List, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { Panel } from '@/parts/Panel';
import { notify } from '@/parts/undoable';
import { forgetQuery, noteQuery, useNotesChanged, type Note } from './queries';
import { forgetForGood } from './writes';

type Props = { note: Note; opened: boolean; onClose: () => void; onGone: () => void };

export function ForgetDialog({ note, opened, onClose, onGone }: Props) {
  const { t } = useTranslation('notes');
  const client = useQueryClient();
  const changed = useNotesChanged();

  async function forget() {
    await forgetForGood(note.seq);
    onGone();
    notify(t('forget.done', { uri: note.uri }));
    for (const uri of [note.uri, ...note.aliases]) client.removeQueries({ queryKey: noteQuery(uri).queryKey });
    await changed();
  }

  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t('forget.title', { uri: note.uri })}
      impact={opened ? <Impact note={note} /> : null}
      action={t('forget.confirm')}
      confirmText={note.name}
      onConfirm={forget}
    />
  );
}

function Impact({ note }: { note: Note }) {
  const { t } = useTranslation('notes');
  const query = useQuery(forgetQuery(note.seq));
  const pointing = note.relations.filter((each) => each.direction === 'from').length;
  return (
    <Panel state={query} label={t('forget.impactLabel')}>
      {(told) => (
        <Stack gap="sm">
          <Text size="sm">{t('forget.impact', { count: told.found ?? 0 })}</Text>
          <List size="sm" spacing={4}>
            {(told.first ?? []).map((each) => (
              <List.Item key={each.seq}>{each.ref}</List.Item>
            ))}
            <List.Item>{t('forget.versions', { count: note.version })}</List.Item>
            {pointing > 0 && <List.Item>{t('deleted.pointing', { count: pointing })}</List.Item>}
          </List>
          <Text size="sm" c="dimmed">
            {t('forget.rather')}
          </Text>
        </Stack>
      )}
    </Panel>
  );
}
