// What a person says about a run, and the learning that follows.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Button, Checkbox, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Empty, Panel } from '@/parts/Panel';
import { ended, useRun } from '@/api/lab';
import { ApiError } from '@/api/client';
import { ErrorCard } from '@/parts/ErrorCard';
import { TimeText } from '@/parts/TimeText';
import { notify } from '@/parts/undoable';
import { usePresets, useProducts } from '@/api/catalog';
import { LearningSteps } from './LearningSteps';
import { type Feedback, feedbackQuery, learn, saveFeedback, useBankChanged } from './queries';
import { filled, type Form, formOf, LIMITS, problemsOf, requestOf, same, sound, valuesOf, WORDS } from './opinion';
import { exactSum, fractions } from './fractions';
import { ProductTable, useProblemText } from './ProductTable';
import classes from './Feedback.module.css';

export function FeedbackTab({ runId, dryRun }: { runId: string; dryRun: boolean }) {
  const { t } = useTranslation('bank');
  const run = useRun(runId);
  const feedback = useQuery(feedbackQuery(runId));
  const early = run.data !== undefined && !ended(run.data);
  return (
    <Panel title={t('feedback.title')} state={feedback}>
      {(said) =>
        early ? (
          <Empty title={t('feedback.notEnded')} why={t('feedback.notEndedWhy')} />
        ) : (
          <>
            <FeedbackForm key={runId} runId={runId} dryRun={dryRun} saved={said} />
            {!dryRun && <LearningSteps runId={runId} />}
          </>
        )
      }
    </Panel>
  );
}

type Props = { runId: string; dryRun: boolean; saved: Feedback | null };

/** Forms that somebody has begun, by run. */
const begun = new Map<string, Form>();

/** The form of a run's feedback. What is not saved yet is kept while the person looks at other pages. */
function FeedbackForm({ runId, dryRun, saved }: Props) {
  const { t } = useTranslation(['bank', 'common']);
  const client = useQueryClient();
  const changed = useBankChanged();
  const [draft, setDraft] = useState<Form | null>(() => begun.get(runId) ?? null);
  const [tried, setTried] = useState(false);
  const [wanted, setWanted] = useState(true);
  const learnAfter = wanted && !dryRun;
  const frame = useRef<HTMLFormElement>(null);
  const standing = formOf(saved);
  const form = draft ?? standing;
  const dirty = !same(form, standing);
  const problems = problemsOf(form);
  const problemText = useProblemText();

  function change(part: Partial<Form>) {
    const next = { ...form, ...part };
    begun.set(runId, next);
    setDraft(next);
    if (saving.isError) saving.reset();
  }
  function settle() {
    begun.delete(runId);
    setDraft(null);
    setTried(false);
  }

  const saving = useMutation({
    mutationFn: async () => {
      const told = await saveFeedback(runId, requestOf(form), learnAfter);
      // A server that does not learn by itself is asked to.
      if (learnAfter && !told.learning) await learn(runId);
      return told;
    },
    onSuccess: async ({ feedback }) => {
      client.setQueryData(feedbackQuery(runId).queryKey, feedback);
      settle();
      notify(t('feedback.saved'));
      await changed();
    },
  });
  useUnsaved(dirty);
  useEffect(() => {
    if (tried) frame.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [tried]);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (saving.isPending || !dirty) return;
    if (sound(problems)) return saving.mutate();
    setTried(true);
    frame.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }

  const values = valuesOf(form);
  // What the server keeps is shown as it is; only what differs from it is worked out here.
  const kept = !dirty && saved !== null;
  const shares = kept ? saved.products.map((each) => each.fraction) : fractions(values);
  const refused = saving.error instanceof ApiError ? saving.error : null;
  const refusedProduct = refused?.details['product_id'];
  return (
    <form
      ref={frame}
      onSubmit={submit}
      noValidate
      aria-label={t('feedback.title')}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      <Stack gap="lg">
        <div className={classes['top']}>
          <TextInput
            label={t('feedback.score')}
            description={t('feedback.scoreHint')}
            inputMode="decimal"
            autoComplete="off"
            value={form.score}
            onChange={(event) => change({ score: event.currentTarget.value })}
            error={tried && problemText(problems.score, LIMITS.score)}
          />
          <PresetChoice onFill={(products) => change({ rows: filled(form.rows, products) })} />
        </div>
        <ProductTable
          rows={form.rows}
          onChange={(rows) => change({ rows })}
          fractions={shares}
          sum={exactSum(values)}
          kept={kept}
          problem={(id) => {
            if (refused && refusedProduct === id) return t('feedback.refused', { message: refused.message });
            const found = problems.values[id];
            return tried || (found && found !== 'missing') ? problemText(found, LIMITS.value) : null;
          }}
        />
        <div className={classes['words']}>
          {WORDS.map((name) => (
            <Textarea
              key={name}
              label={t(`feedback.${name}`)}
              description={t(`feedback.${name}Hint`)}
              autosize
              minRows={3}
              maxRows={12}
              value={form[name]}
              onChange={(event) => change({ [name]: event.currentTarget.value })}
              error={tried && problemText(problems.words[name], LIMITS.words)}
            />
          ))}
        </div>
        {tried && problems.nothing && (
          <Text size="sm" c="red" role="alert">
            {t('feedback.nothing')}
          </Text>
        )}
        {saving.isError && <ErrorCard error={saving.error} />}
        <div className={classes['save']}>
          <Button type="submit" size="sm" loading={saving.isPending} disabled={!dirty && saved !== null}>
            {t('common:save')}
          </Button>
          <Checkbox
            label={t('feedback.learn')}
            description={t(dryRun ? 'feedback.learnDryRun' : 'feedback.learnHint')}
            checked={learnAfter}
            disabled={dryRun}
            onChange={(event) => setWanted(event.currentTarget.checked)}
          />
          {dirty && (draft !== null || saved !== null) ? (
            <>
              <span className={classes['hint']}>{t('feedback.unsaved')}</span>
              <Button variant="subtle" onClick={settle}>
                {t('feedback.discard')}
              </Button>
            </>
          ) : (
            saved && (
              <span className={classes['hint']}>
                {t('feedback.savedAt')} <TimeText at={saved.updated_at * 1_000} />
              </span>
            )
          )}
          <span className={classes['hint']}>{t('feedback.keys')}</span>
        </div>
      </Stack>
    </form>
  );
}

type Products = Parameters<typeof filled>[1];

function PresetChoice({ onFill }: { onFill: (products: Products) => void }) {
  const { t } = useTranslation('bank');
  const presets = usePresets().data?.found;
  const products = useProducts().data?.found ?? [];
  const byId = new Map(products.map((each) => [each.product_id, each]));
  return (
    <Select
      label={t('feedback.preset')}
      description={t('feedback.presetHint')}
      placeholder={presets?.length === 0 ? t('feedback.noPresets') : t('feedback.presetChoose')}
      disabled={!presets?.length}
      searchable
      limit={50}
      value={null}
      onChange={(id) => {
        const chosen = presets?.find((each) => each.preset_id === id);
        if (chosen) onFill(chosen.product_ids.flatMap((each) => byId.get(each) ?? []));
      }}
      data={(presets ?? []).map((each) => ({ value: each.preset_id, label: each.name }))}
    />
  );
}

/** The browser asks before a page with unsaved words is closed or loaded again. */
function useUnsaved(dirty: boolean) {
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [dirty]);
}
