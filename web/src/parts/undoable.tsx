// Notices at the edge of the page: what was done, with eight seconds to take it back; and what failed.
import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { reasonOf } from './errorText';

const UNDO_MS = 8_000;

// Most visits end without a notice: what shows them is loaded with the first one.
let wanted = false;
const listeners = new Set<() => void>();

export function noticesWanted(): boolean {
  return wanted;
}

export function onNotices(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function show(notice: Parameters<typeof notifications.show>[0]): string {
  wanted = true;
  listeners.forEach((tell) => tell());
  return notifications.show(notice);
}

/** Tell what was done, with a button that takes it back. */
export function undoable(message: string, undo: () => Promise<unknown>) {
  const id = show({
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <span>{message}</span>
        <Button variant="light" flex="none" onClick={() => void takeBack(id, undo)}>
          {i18next.t('undo')}
        </Button>
      </Group>
    ),
    autoClose: UNDO_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': i18next.t('close') },
  });
  return id;
}

async function takeBack(id: string, undo: () => Promise<unknown>) {
  notifications.hide(id);
  try {
    await undo();
    notify(i18next.t('undone'));
  } catch (thrown) {
    notifyError(i18next.t('undoFailed', { reason: reasonOf(thrown) }));
  }
}

export function notify(message: string) {
  show({
    message,
    autoClose: 4_000,
    withBorder: true,
    color: 'green',
    closeButtonProps: { 'aria-label': i18next.t('close') },
  });
}

export function notifyError(message: string) {
  show({
    message,
    autoClose: 10_000,
    withBorder: true,
    color: 'red',
    role: 'alert',
    closeButtonProps: { 'aria-label': i18next.t('close') },
  });
}
