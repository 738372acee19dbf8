// What is shown where no page is, where one could not be fetched, or where one failed.
import { Button, Group, Text } from '@mantine/core';
import { Link, useLocation, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/parts/CommandLine';
import { CopyButton } from '@/parts/CopyButton';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { isNotLoaded, standing } from './loading';

const AGAIN_MS = 2_000;

export function NotFound() {
  const { t } = useTranslation('shell');
  const { pathname } = useLocation();
  return (
    <Page title={t('notFound.title')}>
      <Panel label={t('notFound.title')}>
        <Text mb="md">{t('notFound.why', { path: pathname })}</Text>
        <Button renderRoot={(props) => <Link {...props} to="/ui" />}>{t('notFound.home')}</Button>
      </Panel>
    </Page>
  );
}

export function Crashed({ error }: ErrorComponentProps) {
  return isNotLoaded(error) ? <NotFetched /> : <Fault error={error} />;
}

/** The server is away, or was updated; as soon as one that was away answers, the page is loaded. */
function NotFetched() {
  const { t } = useTranslation(['shell', 'common', 'errors']);
  const [seen, setSeen] = useState<Awaited<ReturnType<typeof standing>> | null>(null);
  useEffect(() => {
    let left = false;
    let timer = 0;
    async function look(before: typeof seen) {
      const now = await standing();
      if (left) return;
      if (before === 'away' && now !== 'away') return location.reload();
      setSeen(now);
      if (now === 'away') timer = window.setTimeout(() => void look(now), AGAIN_MS);
    }
    void look(null);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, []);
  if (seen === null) return null;
  if (seen === 'away') {
    return (
      <Page title={t('errors:unreachable.what')}>
        <Panel label={t('errors:unreachable.what')}>
          <Text mb="md">{t('notFetched.away')}</Text>
          <CommandLine command="codexmem start" />
        </Panel>
      </Page>
    );
  }
  const title = t(seen === 'newer' ? 'notFetched.newer' : 'notFetched.title');
  return (
    <Page title={title}>
      <Panel label={title}>
        <Text mb="md">{t(seen === 'newer' ? 'notFetched.newerWhy' : 'notFetched.why')}</Text>
        <Button onClick={() => location.reload()}>{t('crashed.reload')}</Button>
      </Panel>
    </Page>
  );
}

function Fault({ error }: { error: unknown }) {
  const { t } = useTranslation(['shell', 'common']);
  const thrown = error instanceof Error ? error : new Error(String(error));
  return (
    <Page title={t('crashed.title')}>
      <Panel label={t('crashed.title')}>
        <Text mb="md">{t('crashed.why')}</Text>
        <Group gap="sm">
          <Button onClick={() => location.reload()}>{t('crashed.reload')}</Button>
          <code>{thrown.message}</code>
          <CopyButton value={`${thrown.message}\n${thrown.stack ?? ''}`} label={t('common:details')} />
        </Group>
      </Panel>
    </Page>
  );
}
