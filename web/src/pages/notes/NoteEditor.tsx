// Changing a note. It is saved against the version that was read: if somebody wrote meanwhile, both texts are shown and
// the person chooses.
import { Button, Group, NumberInput, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { ErrorCard } from '@/parts/ErrorCard';
import { Markdown } from '@/parts/Markdown';
import { Panel } from '@/parts/Panel';
import { undoable } from '@/parts/undoable';
import { PRIORITIES } from './addresses';
import { ConflictChoice } from './ConflictChoice';
import { useNotesChanged, type Note } from './queries';
import { changedSince, rollBackNote, updateNote, type NoteEdit } from './writes';
import classes from './Note.module.css';

type Props = { note: Note; onDone: () => void };

export function NoteEditor({ note, onDone }: Props) {
  const { t } = useTranslation(['notes', 'common']);
  const changed = useNotesChanged();
  // What was read when the editing began; what comes in later must not be overwritten unseen.
  const [read, setRead] = useState(note);
  const [content, setContent] = useState(note.content);
  const [priority, setPriority] = useState(note.priority);
  const [disclosure, setDisclosure] = useState(note.disclosure);
  const [preview, setPreview] = useState(false);
  const [saved, setSaved] = useState(false);
  const edit: NoteEdit = {
    ...(content !== read.content ? { content } : {}),
    ...(priority !== read.priority ? { priority } : {}),
    ...(disclosure !== read.disclosure ? { disclosure } : {}),
  };
  const dirty = Object.keys(edit).length > 0;
  const save = useMutation({
    mutationFn: (seen: number) => updateNote(note.uri, edit, seen),
    onSuccess: async (written) => {
      setSaved(true);
      await changed();
      const { uri, version, former_version: former } = written;
      if (former === null) return onDone();
      undoable(t('edit.saved', { version }), async () => {
        await rollBackNote(uri, former, version);
        await changed();
      });
      onDone();
    },
    onError: (error) => {
      if (changedSince(error) !== null) void changed();
    },
  });
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !saved && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty && !saved,
    withResolver: true,
  });
  const conflict = changedSince(save.error);
  const submit = () => {
    if (dirty && content.trim()) save.mutate(read.version);
  };

  if (conflict !== null && note.version >= conflict) {
    return (
      <ConflictChoice
        mine={{ content, priority, disclosure }}
        theirs={note}
        base={read}
        busy={save.isPending}
        onMine={() => save.mutate(note.version)}
        onTheirs={onDone}
        onEdit={() => {
          setRead(note);
          save.reset();
        }}
      />
    );
  }
  return (
    <Panel
      title={t('edit.title', { version: read.version })}
      actions={
        <SegmentedControl
          aria-label={t('content.manner')}
          data={[
            { value: 'write', label: t('edit.write') },
            { value: 'preview', label: t('edit.preview') },
          ]}
          value={preview ? 'preview' : 'write'}
          onChange={(value) => setPreview(value === 'preview')}
        />
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          {note.version > read.version && (
            <div className={classes['notice']} data-tone="warn" role="status">
              <span>{t('edit.overtaken', { who: note.updated_by ?? '?', version: note.version })}</span>
            </div>
          )}
          {preview ? (
            <Markdown text={content} />
          ) : (
            <Textarea
              className={classes['mono'] ?? ''}
              label={t('edit.content')}
              value={content}
              onChange={(event) => setContent(event.currentTarget.value)}
              error={content.trim() ? null : t('new.noContent')}
              autosize
              minRows={8}
              maxRows={24}
              autoFocus
            />
          )}
          <div className={classes['fields']}>
            <NumberInput
              label={t('priority.label')}
              description={t('priority.hint')}
              w={180}
              min={PRIORITIES.from}
              max={PRIORITIES.to}
              value={priority}
              onChange={(value) => setPriority(typeof value === 'number' ? value : read.priority)}
              allowDecimal={false}
            />
            <TextInput
              label={t('disclosure.label')}
              description={t('disclosure.hint')}
              flex="1 1 260px"
              value={disclosure}
              onChange={(event) => setDisclosure(event.currentTarget.value)}
            />
          </div>
          {save.isError && conflict === null && <ErrorCard error={save.error} />}
          <Group justify="space-between" gap="sm">
            <Text size="xs" c="dimmed">
              {t('edit.hint')}
            </Text>
            <Group gap="sm">
              <Button variant="default" onClick={onDone}>
                {t('common:cancel')}
              </Button>
              <Button type="submit" disabled={!dirty || !content.trim()} loading={save.isPending}>
                {t('common:save')}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
      <ConfirmDialog
        opened={leaving.status === 'blocked'}
        onClose={() => leaving.reset?.()}
        title={t('edit.leaveTitle')}
        impact={t('edit.leaveImpact')}
        action={t('edit.leave')}
        onConfirm={() => Promise.resolve(leaving.proceed?.())}
      />
    </Panel>
  );
}
