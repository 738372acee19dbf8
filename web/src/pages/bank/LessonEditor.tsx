// Changing a lesson by hand. It is saved against the version that was read; if somebody wrote meanwhile, both texts are
// shown and the person chooses.
import { Button, Group, Select, Stack, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/client';
import { localeTag } from '@/i18n';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { DiffPane } from '@/parts/DiffPane';
import { ErrorCard } from '@/parts/ErrorCard';
import { Panel } from '@/parts/Panel';
import { notify } from '@/parts/undoable';
import { editLesson, MOST_CONTENT, useBankChanged, useRoles, type Lesson } from './queries';

export function LessonEditor({ lesson, onDone }: { lesson: Lesson; onDone: () => void }) {
  const { t, i18n } = useTranslation(['bank', 'common']);
  const changed = useBankChanged();
  const [read] = useState(lesson);
  const [content, setContent] = useState(lesson.content);
  const [role, setRole] = useState(lesson.role);
  const [saved, setSaved] = useState(false);
  const roles = [...new Set([...(useRoles().data ?? []), read.role])];
  const dirty = content !== read.content || role !== read.role;
  const long = [...content].length > MOST_CONTENT;
  const saving = useMutation({
    mutationFn: (version: number) => editLesson(read.mem_id, { content, role, version }),
    onSuccess: async (written) => {
      setSaved(true);
      notify(t('edit.saved', { version: written.version }));
      await changed();
      onDone();
    },
    onError: (error) => {
      if (newerVersion(error) !== null) void changed();
    },
  });
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !saved && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty && !saved,
    withResolver: true,
  });
  const newer = newerVersion(saving.error);
  const conflict = newer !== null && lesson.version >= newer;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (dirty && content.trim() && !long && !saving.isPending) saving.mutate(read.version);
  };
  const most = MOST_CONTENT.toLocaleString(localeTag(i18n.language));
  return (
    <Panel title={t('edit.title', { version: read.version })}>
      <form
        onSubmit={submit}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
        }}
      >
        <Stack gap="md">
          <Textarea
            label={t('edit.content')}
            value={content}
            onChange={(event) => setContent(event.currentTarget.value)}
            error={long ? t('note.tooLong', { most }) : content.trim() ? null : t('edit.empty')}
            autosize
            minRows={6}
            maxRows={24}
            autoFocus
          />
          <Select
            label={t('role')}
            w={240}
            allowDeselect={false}
            value={role}
            onChange={(value) => setRole(value ?? read.role)}
            data={roles}
          />
          {conflict && (
            <div role="alert">
              <Text size="sm" mb="sm">
                {t('edit.conflict', { version: lesson.version })}
              </Text>
              <DiffPane
                before={lesson.content}
                after={content}
                names={[t('edit.theirs', { version: lesson.version }), t('edit.mine')]}
              />
            </div>
          )}
          {saving.isError && newer === null && <ErrorCard error={saving.error} />}
          <Group justify="space-between" gap="sm">
            <Text size="xs" c="dimmed" flex="1 1 200px">
              {t('edit.hint')}
            </Text>
            <Group gap="sm">
              <Button variant="default" onClick={onDone}>
                {t(conflict ? 'edit.takeTheirs' : 'common:cancel')}
              </Button>
              {conflict ? (
                <Button loading={saving.isPending} onClick={() => saving.mutate(lesson.version)}>
                  {t('edit.keepMine')}
                </Button>
              ) : (
                <Button type="submit" disabled={!dirty || !content.trim() || long} loading={saving.isPending}>
                  {t('common:save')}
                </Button>
              )}
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

/** The version that somebody else wrote meanwhile; null where the error is another one. */
function newerVersion(error: unknown): number | null {
  const version = error instanceof ApiError && error.code === 'conflict' ? error.details['version'] : null;
  return typeof version === 'number' ? version : null;
}
