// What is shown where no page is, or where one failed.
import { Button, Group, Text } from '@mantine/core';
import { Link, useLocation, type ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';

export function NotFound() {
  const { t } = useTranslation('shell');
  const { pathname } = useLocation();
  return (
    <Page title={t('notFound.title')}>
      <Panel label={t('notFound.title')}>
        <Text mb="md">{t('notFound.why', { path: pathname })}</Text>
        <Button renderRoot={(props) => <Link {...props} to="/viewer" />}>{t('notFound.home')}</Button>
      </Panel>
    </Page>
  );
}

export function Crashed({ error }: ErrorComponentProps) {
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
