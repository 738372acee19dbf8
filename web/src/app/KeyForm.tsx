// The form that asks for an API key.
import '@mantine/core/styles/PasswordInput.layer.css';
import { Button, Checkbox, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, ask } from '@/api/client';
import { errorOf } from '@/api/errors';
import { takeKey } from '@/api/keys';
import { CommandLine } from '@/parts/CommandLine';
import { reasonOf } from '@/parts/errorText';
import classes from './KeyGate.module.css';
import markUrl from '../mark.svg';

/** Whether the server knows the key; what else went wrong is thrown. */
async function known(key: string): Promise<boolean> {
  const reply = await fetch('/api/stats', { headers: { Authorization: `Bearer ${key}` } });
  if (reply.status === 401) return false;
  if (!reply.ok) throw errorOf(reply.status, await reply.json().catch(() => null));
  return true;
}

export function KeyForm() {
  const { t } = useTranslation('shell');
  const client = useQueryClient();
  const [key, setKey] = useState('');
  const [remember, setRemember] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { data: offer } = useQuery({ queryKey: ['sign-in'], queryFn: () => ask(api.GET('/api/sign-in')) });

  async function use() {
    const given = key.trim();
    if (!given || busy) return;
    setBusy(true);
    setProblem(null);
    try {
      // A header takes letters of ASCII only; anything else is no key.
      if (!/^[\x21-\x7e]+$/.test(given) || !(await known(given))) return setProblem(t('key.wrong'));
      client.clear();
      takeKey(given, remember);
    } catch (thrown) {
      setProblem(t('key.failed', { reason: reasonOf(thrown) }));
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className={classes['gate']}>
      <Paper withBorder className={classes['card']}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void use();
          }}
        >
          <Stack gap="lg">
            <Group gap="sm">
              <img src={markUrl} alt="" width={28} height={28} />
              <Text fw={600} size="lg">
                codexmem
              </Text>
            </Group>
            <div>
              <Title order={1}>{t('key.title')}</Title>
              <Text size="sm" c="dimmed" mt={4}>
                {t('key.why')}
              </Text>
            </div>
            {offer?.issuer && (
              <>
                <Button
                  component="a"
                  size="sm"
                  href={`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`}
                >
                  {t('signIn.with', { issuer: offer.issuer })}
                </Button>
                <Text size="xs" c="dimmed">
                  {t('signIn.orKey')}
                </Text>
              </>
            )}
            <PasswordInput
              label={t('key.label')}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              error={problem}
              autoComplete="off"
              autoFocus
            />
            <Checkbox
              label={t('key.remember')}
              checked={remember}
              onChange={(event) => setRemember(event.currentTarget.checked)}
            />
            <Button
              type="submit"
              size="sm"
              variant={offer?.issuer ? 'default' : 'filled'}
              loading={busy}
              disabled={!key.trim()}
            >
              {t('key.use')}
            </Button>
            <div>
              <Text size="xs" c="dimmed" mb={6}>
                {t('key.make')}
              </Text>
              <CommandLine command="codexmem key create --label browser" />
              <Text size="xs" c="dimmed" mt={8}>
                {t('key.local')}
              </Text>
            </div>
          </Stack>
        </form>
      </Paper>
    </main>
  );
}
