// What can be done with a note as a whole.
import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconEraser, IconPencil, IconRoute, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Note } from './queries';

type Props = {
  note: Note;
  editing: boolean;
  onEdit: () => void;
  onWhy: () => void;
  onAsk: (what: 'delete' | 'forget') => void;
};

export function NoteActions({ note, editing, onEdit, onWhy, onAsk }: Props) {
  const { t } = useTranslation(['notes', 'common']);
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
