// What can be done with a note as a whole.
import { ActionIcon, Button, Menu } from '@mantine/core';
import {
  IconArchive,
  IconArchiveOff,
  IconBan,
  IconDots,
  IconEraser,
  IconPencil,
  IconRoute,
  IconTrash,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { undoable } from '@/parts/undoable';
import { useNotesChanged, type Note } from './queries';
import { rollBackNote, updateNote, type SettableStatus } from './writes';

type Props = {
  note: Note;
  editing: boolean;
  onEdit: () => void;
  onWhy: () => void;
  onAsk: (what: 'delete' | 'forget') => void;
};

const icons: Record<SettableStatus, ReactNode> = {
  active: <IconArchiveOff size={14} />,
  deprecated: <IconBan size={14} />,
  archived: <IconArchive size={14} />,
};

export function NoteActions({ note, editing, onEdit, onWhy, onAsk }: Props) {
  const { t } = useTranslation(['notes', 'common']);
  const changed = useNotesChanged();

  async function set(status: SettableStatus) {
    const written = await updateNote(note.uri, { status }, note.version);
    await changed();
    undoable(t(`status.done.${status}`), async () => {
      await rollBackNote(note.uri, written.version - 1, written.version);
      await changed();
    });
  }

  const statuses = (['active', 'deprecated', 'archived'] as const).filter((each) => each !== note.status);
  return (
    <>
      <Button variant="default" leftSection={<IconRoute size={14} />} onClick={onWhy}>
        {t('common:provenance.open')}
      </Button>
      {!note.deleted && !editing && (
        <Button leftSection={<IconPencil size={14} />} onClick={onEdit}>
          {t('actions.edit')}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('actions.more')}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!note.deleted &&
            statuses.map((each) => (
              <Menu.Item key={each} leftSection={icons[each]} onClick={() => void set(each)}>
                {t(`status.set.${each}`)}
              </Menu.Item>
            ))}
          {!note.deleted && (
            <Menu.Item leftSection={<IconTrash size={14} />} onClick={() => onAsk('delete')}>
              {t('actions.delete')}
            </Menu.Item>
          )}
          <Menu.Item color="red" leftSection={<IconEraser size={14} />} onClick={() => onAsk('forget')}>
            {t('actions.forget')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
