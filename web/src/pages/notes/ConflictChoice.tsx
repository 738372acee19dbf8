// Two people changed the same note: both texts side by side, and the choice between them.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { DiffPane } from '@/parts/DiffPane';
import { Panel } from '@/parts/Panel';
import { FieldChanges } from './FieldChanges';
import type { Note, NoteChange } from './queries';
import classes from './Note.module.css';

type Wanted = { content: string; priority: number; disclosure: string };
type Props = {
  mine: Wanted;
  theirs: Note;
  /** What both began with. */
  base: Note;
  busy: boolean;
  onMine: () => void;
  onTheirs: () => void;
  onEdit: () => void;
};

export function ConflictChoice({ mine, theirs, base, busy, onMine, onTheirs, onEdit }: Props) {
  const { t } = useTranslation('notes');
  const differing: NoteChange[] = (['priority', 'disclosure'] as const)
    .filter((field) => mine[field] !== theirs[field])
    .map((field) => ({ field, before: theirs[field], after: mine[field] }));
  const names = [t('conflict.theirs', { version: theirs.version }), t('conflict.mine')] as const;
  return (
    <Panel title={t('conflict.title')} flush>
      <Stack gap="xs" p="md" role="alert">
        <Text size="sm">
          {t('conflict.why', { who: theirs.updated_by ?? '?', version: theirs.version, seen: base.version })}
        </Text>
        <Text size="sm" c="dimmed">
          {t('conflict.nothingLost')}
        </Text>
      </Stack>
      <div className={classes['scroll']}>
        <DiffPane before={theirs.content} after={mine.content} names={names} />
      </div>
      <FieldChanges changes={differing} names={names} />
      <Group className={classes['foot'] ?? ''} justify="flex-end" gap="sm">
        <Button variant="default" onClick={onTheirs} disabled={busy}>
          {t('conflict.takeTheirs')}
        </Button>
        <Button variant="default" onClick={onEdit} disabled={busy}>
          {t('conflict.edit')}
        </Button>
        <Button onClick={onMine} loading={busy}>
          {t('conflict.keepMine', { version: theirs.version + 1 })}
        </Button>
      </Group>
    </Panel>
  );
}
