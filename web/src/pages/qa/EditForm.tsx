// Correcting an item: question, answer with a preview, tags. Nobody's later change is overwritten unseen.
import '@mantine/core/styles/Pill.layer.css';
import '@mantine/core/styles/PillsInput.layer.css';
import '@mantine/core/styles/Alert.layer.css';
import { Alert, Button, Group, TagsInput, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { ErrorCard } from '@/parts/ErrorCard';
import { Answer } from './ItemText';
import classes from './Qa.module.css';
import type { Correction, QaDetail } from './queries';

export type Draft = Correction;

type Props = {
  item: QaDetail;
  drafts: Map<string, Draft>;
  /** Rejects with what the server refused. */
  onSave: (correction: Correction, approve: boolean) => Promise<void>;
  onCancel: () => void;
  onReload: () => Promise<{ data: QaDetail | undefined }>;
};

const MOST_TAGS = 50;

export function EditForm({ item, drafts, onSave, onCancel, onReload }: Props) {
  const { t } = useTranslation(['qa', 'common']);
  const { qa_id: id, question, answer, tags, version } = item;
  const [draft, setDraft] = useState<Draft>(() => drafts.get(id) ?? { question, answer, tags, version });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [newer, setNewer] = useState<QaDetail | null>(null);
  const first = useRef<HTMLTextAreaElement>(null);
  useEffect(() => first.current?.focus(), []);

  function change(part: Partial<Draft>) {
    const next = { ...draft, ...part };
    drafts.set(id, next);
    setDraft(next);
  }

  const blank = { question: !draft.question.trim(), answer: !draft.answer.trim() };
  async function save(approve: boolean) {
    if (busy || blank.question || blank.answer) return;
    setBusy(true);
    setError(null);
    try {
      await onSave(draft, approve);
    } catch (thrown) {
      const now = asApiError(thrown).code === 'conflict' ? (await onReload()).data : undefined;
      if (now) {
        setNewer(now);
        change({ version: now.version });
      } else {
        setError(thrown);
      }
      setBusy(false);
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <form
      className={classes['form']}
      aria-label={t('edit.title')}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        void save(false);
      }}
    >
      <Textarea
        ref={first}
        label={t('edit.question')}
        value={draft.question}
        onChange={(event) => change({ question: event.currentTarget.value })}
        error={blank.question ? t('edit.empty') : undefined}
        autosize
        minRows={1}
        maxRows={6}
      />
      <div className={classes['write']}>
        <Textarea
          label={t('edit.answer')}
          value={draft.answer}
          onChange={(event) => change({ answer: event.currentTarget.value })}
          error={blank.answer ? t('edit.empty') : undefined}
          classNames={{ input: 'size13 mono' }}
          autosize
          minRows={6}
          maxRows={24}
        />
        <section aria-label={t('edit.preview')}>
          <Text size="sm" fw={500}>
            {t('edit.preview')}
          </Text>
          <Answer text={draft.answer} />
        </section>
      </div>
      <TagsInput
        label={t('edit.tags')}
        description={t('edit.tagsHint')}
        value={draft.tags}
        onChange={(next) => change({ tags: next })}
        maxTags={MOST_TAGS}
        size="sm"
      />
      {newer && (
        <Alert color="yellow" title={t('edit.changed')} role="alert">
          <strong dir="auto">{newer.question}</strong>
          <Answer text={newer.answer} />
        </Alert>
      )}
      {error !== null && <ErrorCard error={error} />}
      <Group gap="sm">
        <Button type="submit" loading={busy}>
          {t('common:save')}
        </Button>
        {item.status !== 'validated' && (
          <Button variant="light" color="green" disabled={busy} onClick={() => void save(true)}>
            {t('edit.saveAndApprove')}
          </Button>
        )}
        <Button variant="default" disabled={busy} onClick={onCancel}>
          {t('common:cancel')}
        </Button>
        <Text size="xs" c="dimmed">
          {t('edit.keys')}
        </Text>
      </Group>
    </form>
  );
}
