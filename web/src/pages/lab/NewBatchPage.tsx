// The form that makes a batch. `?from=batch_…` fills it with what was asked before.
import '@mantine/core/styles/Fieldset.layer.css';
import '@mantine/core/styles/SimpleGrid.layer.css';
import '@mantine/core/styles/NumberInput.layer.css';
import '@mantine/core/styles/Switch.layer.css';
import {
  Button,
  Fieldset,
  Group,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { ErrorCard } from '@/parts/ErrorCard';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import {
  EMPTY,
  formOf,
  freshKey,
  LIMITS,
  OVERRIDES,
  problemsOf,
  requestOf,
  type Form,
  type Override,
  type Problem,
} from './batchForm';
import { configOf, createBatch, fetchBatches, useBatch } from '@/api/lab';

const SCHEMA = { from: text() };

export function NewBatchPage() {
  const { t } = useTranslation('lab');
  const [{ from }] = useSearchState(SCHEMA);
  const source = useBatch(from, { live: false });
  return (
    <Page title={t('newBatch')} description={from ? t('form.again', { batch: from }) : undefined}>
      {from ? (
        <Panel label={t('newBatch')} state={source}>
          {(batch) => <BatchForm key={from} initial={formOf(batch)} />}
        </Panel>
      ) : (
        <Panel label={t('newBatch')}>
          <BatchForm key="" initial={EMPTY} />
        </Panel>
      )}
    </Page>
  );
}

function BatchForm({ initial }: { initial: Form }) {
  const { t, i18n } = useTranslation('lab');
  const client = useQueryClient();
  const navigate = useNavigate();
  const [form, setForm] = useState(initial);
  const [tried, setTried] = useState(false);
  const problems = problemsOf(form);
  const frame = useRef<HTMLFormElement>(null);
  // One key for one request: asked twice (a double click, an answer that was lost), it makes one batch.
  const sent = useRef({ body: '', key: '' });
  const making = useMutation({
    mutationFn: () => {
      const body = requestOf(form);
      const written = JSON.stringify(body);
      if (sent.current.body !== written) sent.current = { body: written, key: freshKey() };
      return createBatch(body, sent.current.key);
    },
    onSuccess: async ({ batch }) => {
      await navigate({ to: '/ui/batches/$id', params: { id: batch.batch_id } });
      void client.invalidateQueries({ queryKey: ['lab', 'batches'] });
    },
  });
  useEffect(() => {
    if (tried) frame.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [tried]);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (Object.keys(problems).length) {
      setTried(true);
      frame.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    } else if (!making.isPending) making.mutate();
  }

  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  const told = (problem: Problem | undefined, most: number) =>
    tried && problem ? t(`form.${problem}`, { most: number(most) }) : undefined;
  const hintOf = (name: Override) => {
    if (name === 'llm_model') return undefined;
    return t(name === 'openai_api_base' ? 'form.openai_api_baseHint' : 'form.folderHint');
  };
  const change = (next: Partial<Form>) => setForm((before) => ({ ...before, ...next }));
  const used = [...form.request].length;
  return (
    <form
      ref={frame}
      onSubmit={submit}
      noValidate
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      <Stack gap="lg" maw={860}>
        <Textarea
          label={t('form.request')}
          description={t('form.requestHint')}
          placeholder={t('form.requestPlaceholder')}
          required
          autosize
          minRows={4}
          maxRows={14}
          value={form.request}
          onChange={(event) => change({ request: event.currentTarget.value })}
          error={told(problems.request, LIMITS.request)}
        />
        {used > LIMITS.request / 2 && (
          <Text size="xs" c="dimmed">
            {t('form.characters', { used: number(used), most: number(LIMITS.request) })}
          </Text>
        )}
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="lg">
          <NumberInput
            label={t('form.runs')}
            description={t('form.runsHint')}
            min={1}
            max={LIMITS.runs}
            clampBehavior="none"
            allowDecimal={false}
            value={form.runs}
            onChange={(runs) => change({ runs })}
            error={told(problems.runs, LIMITS.runs)}
          />
          <NumberInput
            label={t('form.recipes')}
            description={t('form.recipesHint')}
            min={1}
            max={LIMITS.recipes}
            clampBehavior="none"
            allowDecimal={false}
            value={form.recipes}
            onChange={(recipes) => change({ recipes })}
            error={told(problems.recipes, LIMITS.recipes)}
          />
          <NumberInput
            label={t('form.temperature')}
            description={t('form.temperatureHint')}
            min={0}
            max={LIMITS.temperature}
            step={0.1}
            decimalScale={2}
            clampBehavior="none"
            value={form.temperature}
            onChange={(temperature) => change({ temperature })}
            error={told(problems.temperature, LIMITS.temperature)}
          />
        </SimpleGrid>
        <Switch
          label={t('form.dryRun')}
          description={t('form.dryRunHint')}
          checked={form.dryRun}
          onChange={(event) => change({ dryRun: event.currentTarget.checked })}
        />
        <ServerProfile />
        <Fieldset legend={t('form.overrides')}>
          <Text size="xs" c="dimmed" mb="sm">
            {t('form.overridesHint')}
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            {OVERRIDES.map((name) => (
              <TextInput
                key={name}
                label={t(`form.${name}`)}
                description={hintOf(name)}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                autoComplete="off"
                spellCheck={false}
                value={form.overrides[name]}
                onChange={(event) => change({ overrides: { ...form.overrides, [name]: event.currentTarget.value } })}
                error={told(problems[name], LIMITS.override)}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
        {making.isError && <ErrorCard error={making.error} />}
        <Group>
          <Button type="submit" size="sm" loading={making.isPending}>
            {t('form.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Who will answer: a setting of the server, which a batch records when it is made. */
function ServerProfile() {
  const { t } = useTranslation('lab');
  const newest = useQuery({ queryKey: ['lab', 'batches', 'newest'], queryFn: () => fetchBatches(null, [], '', 1) });
  const batch = newest.data?.items[0];
  const profile = batch ? configOf(batch)['profile'] : undefined;
  return (
    <div>
      <Text size="sm" fw={500}>
        {t('form.profile')}
      </Text>
      <Text size="sm" c="dimmed">
        {typeof profile === 'string' && profile ? t('form.profileLast', { profile }) : t('form.profileNone')}
      </Text>
    </div>
  );
}
