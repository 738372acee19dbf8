// For what cannot be undone cheaply: shows the impact first, may ask to type a word, and stays open until it is done.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorCard } from './ErrorCard';

type Props = {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** What will happen: a sentence, a diff, a list. */
  impact: ReactNode;
  /** The verb on the button: "Roll back". */
  action: string;
  cancel?: string | undefined;
  danger?: boolean;
  /** Something was typed: neither Escape nor a click beside it closes the dialog. */
  kept?: boolean;
  /** What must be typed before the button works. */
  confirmText?: string;
  /** False while something that is needed is missing. */
  ready?: boolean;
  size?: string | number;
  /** Whoever resolves to false keeps the dialog open. */
  onConfirm: () => Promise<unknown>;
};

export function ConfirmDialog(props: Props) {
  const { opened, onClose, title, impact, action, cancel, danger = true, kept = false } = props;
  const { confirmText, size = 'lg', onConfirm } = props;
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (!opened) return;
    setTyped('');
    setError(null);
  }, [opened]);
  const ready = props.ready !== false && (!confirmText || typed.trim() === confirmText);

  async function confirm() {
    if (!ready || busy) return;
    setBusy(true);
    setError(null);
    try {
      if ((await onConfirm()) !== false) onClose();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Modal
      opened={opened}
      onClose={() => !busy && onClose()}
      title={title}
      size={size}
      closeOnEscape={!kept}
      closeOnClickOutside={!kept}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <Stack gap="lg">
          {typeof impact === 'string' ? <Text size="sm">{impact}</Text> : impact}
          {confirmText && (
            <TextInput
              label={t('typeToConfirm', { text: confirmText })}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              spellCheck={false}
              data-autofocus
            />
          )}
          {error !== null && <ErrorCard error={error} compact />}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose} disabled={busy} data-autofocus={confirmText ? undefined : true}>
              {cancel ?? t('cancel')}
            </Button>
            <Button type="submit" {...(danger ? { color: 'red' } : {})} disabled={!ready} loading={busy}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
