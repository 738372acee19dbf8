// A page with its filters can be kept under a name: listed here and in the navigation, renamed, deleted. Kept in this
// browser.
import { Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { IconBookmark, IconBookmarkPlus, IconPencil, IconTrash } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { prefer, preferences, usePreferences, type View } from '@/app/preferences';
import { useCurrentView } from '@/app/views';
import { undoable } from './undoable';

export function SavedViews() {
  const { t } = useTranslation();
  const router = useRouter();
  const { views } = usePreferences();
  const { here, view } = useCurrentView();
  const [asked, setAsked] = useState<'save' | 'rename' | null>(null);

  function remove(gone: View) {
    const before = preferences().views;
    prefer({ views: before.filter((each) => each.to !== gone.to) });
    undoable(t('views.deleted', { name: gone.name }), () => Promise.resolve(prefer({ views: before })));
  }

  return (
    <>
      <Menu position="bottom-end" keepMounted={false}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={14} aria-hidden />}>
            {view?.name ?? t('views.title')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.map(({ name, to }) => (
            <Menu.Item
              key={to}
              aria-current={to === here || undefined}
              onClick={() => void router.navigate({ href: to })}
            >
              {name}
            </Menu.Item>
          ))}
          {views.length > 0 && <Menu.Divider />}
          {view ? (
            <>
              <Menu.Item leftSection={<IconPencil size={14} aria-hidden />} onClick={() => setAsked('rename')}>
                {t('views.rename')}
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconTrash size={14} aria-hidden />} onClick={() => remove(view)}>
                {t('views.delete')}
              </Menu.Item>
            </>
          ) : (
            <Menu.Item leftSection={<IconBookmarkPlus size={14} aria-hidden />} onClick={() => setAsked('save')}>
              {t('views.save')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {asked && (
        <NameDialog
          title={t(`views.${asked}`)}
          initial={asked === 'rename' ? (view?.name ?? '') : ''}
          onClose={() => setAsked(null)}
          onName={(name) => {
            const others = preferences().views;
            const next = { name, to: here };
            prefer({
              views: asked === 'save' ? [...others, next] : others.map((each) => (each.to === here ? next : each)),
            });
          }}
        />
      )}
    </>
  );
}

type DialogProps = { title: string; initial: string; onClose: () => void; onName: (name: string) => void };

function NameDialog({ title, initial, onClose, onName }: DialogProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(initial);
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('close') }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!name.trim()) return;
          onName(name.trim());
          onClose();
        }}
      >
        <Stack gap="md">
          <TextInput
            label={t('views.name')}
            description={t('views.kept')}
            value={name}
            maxLength={60}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
            <Button type="submit" disabled={!name.trim()}>
              {t('views.keep')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
