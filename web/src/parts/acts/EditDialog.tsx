// New words for a memory of any kind, and what else of it a person may change. The old ones stay as a version; nobody's
// later change is overwritten unseen, and nothing that was typed is lost to a slip.
import '@mantine/core/styles/NumberInput.layer.css';
import '@mantine/core/styles/Alert.layer.css';
import '@mantine/core/styles/Pill.layer.css';
import '@mantine/core/styles/PillsInput.layer.css';
import {
  Alert,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  TagsInput,
  Text,
  TextInput,
  Textarea,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { editLesson, useRoles } from '@/api/lab';
import { memoryQuery, useMemoriesChanged, type Living, type WholeMemory } from '@/api/life';
import { ConfirmDialog } from '../ConfirmDialog';
import { DiffPane } from '../DiffPane';
import { ErrorCard } from '../ErrorCard';
import { useTypeWord } from '../KindMark';
import { Markdown } from '../Markdown';
import { isMarkdown, listOf, textOf } from '../MemoryText';
import { notify } from '../undoable';
import type { Perform } from './useActs';

type Props = { memory: Living; onClose: () => void; perform: Perform };
type Draft = {
  title: string;
  text: string;
  type: string;
  facts: string;
  tags: string[];
  priority: number;
  disclosure: string;
  role: string;
};

const TYPES = ['bugfix', 'feature', 'refactor', 'change', 'discovery', 'decision'] as const;
const PRIORITIES = { min: 0, max: 10 };
const MOST_TAGS = 50;

function draftOf({ title, content, type, attrs, kind, priority }: WholeMemory): Draft {
  return {
    title: kind === 'qa' ? textOf(attrs['question']) || title : title,
    text: content,
    type,
    facts: kind === 'observation' ? listOf(attrs['facts']).join('\n') : '',
    tags: listOf(attrs['tags']),
    priority,
    disclosure: textOf(attrs['disclosure']),
    role: textOf(attrs['role']) || 'global',
  };
}

export function submitOnCtrlEnter(event: KeyboardEvent<HTMLTextAreaElement>) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

export function EditDialog({ memory, onClose, perform }: Props) {
  const { t } = useTranslation(['life', 'common']);
  const query = useQuery({ ...memoryQuery(String(memory.seq)), gcTime: 0, refetchOnWindowFocus: false });
  const [begun, setBegun] = useState<WholeMemory | null>(null); // what the draft was made from
  const [draft, setDraft] = useState<Draft | null>(null);
  const [newer, setNewer] = useState<WholeMemory | null>(null);
  const from = begun ?? query.data;
  const before = from && draftOf(from);
  const now = draft ?? before;
  const dirty = JSON.stringify(now) !== JSON.stringify(before);
  const changed = useMemoriesChanged();
  const leaving = useBlocker({
    shouldBlockFn: ({ action }) => dirty && action !== 'REPLACE',
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });

  function change(part: Partial<Draft>) {
    if (!now || !from) return;
    setBegun(from);
    setDraft({ ...now, ...part });
  }

  async function save() {
    if (!now || !before || !from) return;
    const seen = (newer ?? from).version;
    const { facts, role, tags, ...rest } = now;
    const tagged = JSON.stringify(tags) !== JSON.stringify(before.tags);
    const changes = Object.fromEntries(
      Object.entries(rest).filter(([field, value]) => value !== before[field as keyof typeof rest]),
    );
    const stillTrue = before.facts && (facts !== before.facts || now.text !== before.text);
    try {
      if (role !== before.role) {
        // Which roles there are only the lab knows.
        await editLesson(from.id, { content: now.text, role, version: seen });
        await changed();
        notify(t('done.edit', { count: 1, what: memory.title }));
      } else {
        const lines = facts.split('\n').filter((line) => line.trim());
        const other = { ...(stillTrue ? { facts: lines } : {}), ...(tagged ? { tags } : {}) };
        await perform({ act: 'edit', seen, ...changes, ...other }, [memory]);
      }
    } catch (thrown) {
      if (asApiError(thrown).code !== 'conflict') throw thrown;
      setNewer((await query.refetch()).data ?? null);
      return false; // the dialog stays
    }
  }

  return (
    <>
      <ConfirmDialog
        opened
        onClose={onClose}
        title={t('edit.title', { what: memory.ref })}
        action={newer ? t('edit.keepMine', { version: newer.version + 1 }) : t('common:save')}
        cancel={newer ? t('edit.takeTheirs') : undefined}
        danger={false}
        kept={dirty}
        size="xl"
        ready={Boolean(now?.text.trim()) && dirty}
        onConfirm={save}
        impact={
          now && before ? (
            <Fields memory={memory} draft={now} facts={before.facts !== ''} newer={newer} onChange={change} />
          ) : query.isError ? (
            <ErrorCard error={query.error} retry={query.refetch} />
          ) : (
            <Skeleton h={160} />
          )
        }
      />
      <ConfirmDialog
        opened={leaving.status === 'blocked'}
        onClose={() => leaving.reset?.()}
        title={t('edit.leaveTitle')}
        impact={t('edit.leaveImpact')}
        action={t('edit.leave')}
        onConfirm={() => Promise.resolve(leaving.proceed?.())}
      />
    </>
  );
}

type FieldsProps = {
  memory: Living;
  draft: Draft;
  facts: boolean;
  newer: WholeMemory | null;
  onChange: (part: Partial<Draft>) => void;
};

function Fields({ memory, draft, facts, newer, onChange }: FieldsProps) {
  const { t } = useTranslation('life');
  const { kind } = memory;
  const names = kind === 'qa' ? 'qa' : kind === 'summary' ? 'summary' : 'other';
  const [preview, setPreview] = useState(false);
  return (
    <Stack gap="sm">
      {newer && (
        <Alert color="yellow" title={t('edit.changed')}>
          <Text size="sm">{t('edit.nothingLost')}</Text>
          <DiffPane
            before={newer.content}
            after={draft.text}
            names={[t('edit.theirs', { version: newer.version }), t('edit.mine')]}
          />
        </Alert>
      )}
      {!['prompt', 'note', 'lesson'].includes(kind) && (
        <TextInput
          size="sm"
          label={t(`edit.title_.${names}`)}
          value={draft.title}
          onChange={(event) => onChange({ title: event.currentTarget.value })}
        />
      )}
      {isMarkdown(memory) && (
        <SegmentedControl
          aria-label={t('edit.manner')}
          style={{ alignSelf: 'flex-start' }}
          data={[
            { value: 'write', label: t('edit.write') },
            { value: 'preview', label: t('edit.preview') },
          ]}
          value={preview ? 'preview' : 'write'}
          onChange={(value) => setPreview(value === 'preview')}
        />
      )}
      {preview ? (
        <Markdown text={draft.text} />
      ) : (
        <Textarea
          label={t(`edit.text_.${names}`)}
          value={draft.text}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
          onKeyDown={submitOnCtrlEnter}
          error={draft.text.trim() ? undefined : t('edit.empty')}
          autosize
          minRows={4}
          maxRows={16}
          autoFocus
          data-autofocus
        />
      )}
      {facts && (
        <Textarea
          label={t('edit.facts')}
          description={t('edit.factsHint')}
          value={draft.facts}
          onChange={(event) => onChange({ facts: event.currentTarget.value })}
          onKeyDown={submitOnCtrlEnter}
          autosize
          minRows={2}
          maxRows={8}
        />
      )}
      {kind === 'qa' && (
        <TagsInput
          label={t('edit.tags')}
          description={t('edit.tagsHint')}
          value={draft.tags}
          onChange={(tags) => onChange({ tags })}
          maxTags={MOST_TAGS}
          size="sm"
        />
      )}
      {kind === 'observation' && <TypeSelect draft={draft} onChange={onChange} />}
      {kind === 'note' && <NoteFields draft={draft} onChange={onChange} />}
      {kind === 'lesson' && <RoleSelect value={draft.role} onChange={(role) => onChange({ role })} />}
      <Text size="xs" c="dimmed">
        {t('edit.keeps')} {t('edit.keys')}
      </Text>
    </Stack>
  );
}

type Part = Pick<FieldsProps, 'draft' | 'onChange'>;

function TypeSelect({ draft, onChange }: Part) {
  const { t } = useTranslation('life');
  const word = useTypeWord();
  const types = [...new Set([...TYPES, ...(draft.type ? [draft.type] : [])])];
  return (
    <Select
      size="sm"
      label={t('edit.type')}
      w={200}
      value={draft.type || null}
      onChange={(type) => onChange({ type: type ?? draft.type })}
      allowDeselect={false}
      data={types.map((type) => ({ value: type, label: word(type) }))}
    />
  );
}

/** How important a note is, and when it should be told. */
export function NoteFields({
  draft,
  onChange,
}: { draft: Pick<Draft, 'priority' | 'disclosure'> } & Pick<Part, 'onChange'>) {
  const { t } = useTranslation('notes');
  return (
    <Group align="flex-start" gap="md" wrap="wrap">
      <NumberInput
        label={t('priority.label')}
        description={t('priority.hint')}
        w={180}
        {...PRIORITIES}
        value={draft.priority}
        onChange={(value) => onChange({ priority: typeof value === 'number' ? value : draft.priority })}
        allowDecimal={false}
      />
      <TextInput
        label={t('disclosure.label')}
        description={t('disclosure.hint')}
        flex="1 1 240px"
        value={draft.disclosure}
        onChange={(event) => onChange({ disclosure: event.currentTarget.value })}
      />
    </Group>
  );
}

/** For which role of the lab a lesson is. */
export function RoleSelect({ value, onChange }: { value: string; onChange: (role: string) => void }) {
  const { t } = useTranslation('bank');
  const roles = [...new Set([...(useRoles().data ?? []), value])];
  return (
    <Select
      label={t('note.role')}
      description={t('note.roleHint')}
      w={240}
      allowDeselect={false}
      value={value}
      onChange={(role) => onChange(role ?? value)}
      data={roles}
    />
  );
}
