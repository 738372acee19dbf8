// What a person chooses for this browser.
import '@mantine/core/styles/Switch.layer.css';
import { Button, Group, SegmentedControl, Stack, Switch, Text, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { api, ask } from '@/api/client';
import { forgetKey, useCurrentKey } from '@/api/keys';
import { prefer, usePreferences, type Preferences } from '@/app/preferences';
import { reasonOf } from '@/parts/errorText';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { notify, notifyError } from '@/parts/undoable';
import classes from './Settings.module.css';

export function SettingsPage() {
  const { t } = useTranslation('shell');
  const client = useQueryClient();
  const chosen = usePreferences();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const key = useCurrentKey();
  const { data: who } = useQuery({ queryKey: ['whoami', key], queryFn: () => ask(api.GET('/api/whoami')) });
  const leaving = useMutation({
    mutationFn: () => ask(api.POST('/api/sign-in/out')),
    onSuccess: () => location.reload(),
    onError: (thrown) => notifyError(t('signIn.failed', { reason: reasonOf(thrown) })),
  });
  return (
    <Page title={t('settings.title')} description={t('settings.description')}>
      <Stack gap="lg" maw={720}>
        <Panel title={t('settings.appearance')}>
          <Choice
            name={t('language.name')}
            value={chosen.language ?? 'auto'}
            onChange={(value) => prefer({ language: value === 'auto' ? null : (value as Preferences['language']) })}
            options={[
              { value: 'auto', label: t('settings.auto') },
              { value: 'en', label: 'English' },
              { value: 'zh', label: '简体中文' },
            ]}
          />
          <Choice
            name={t('theme.name')}
            value={colorScheme}
            onChange={(value) => setColorScheme(value as typeof colorScheme)}
            options={[
              { value: 'auto', label: t('theme.auto') },
              { value: 'light', label: t('theme.light') },
              { value: 'dark', label: t('theme.dark') },
            ]}
          />
          <Choice
            name={t('settings.density.name')}
            value={chosen.density}
            onChange={(value) => prefer({ density: value as Preferences['density'] })}
            options={[
              { value: 'comfortable', label: t('settings.density.comfortable') },
              { value: 'compact', label: t('settings.density.compact') },
            ]}
          />
          <Choice
            name={t('settings.clock.name')}
            value={chosen.clock}
            onChange={(value) => prefer({ clock: value as Preferences['clock'] })}
            options={[
              { value: 'local', label: t('settings.clock.local') },
              { value: 'utc', label: t('settings.clock.utc') },
            ]}
          />
        </Panel>
        <Panel title={t('settings.keyboard')}>
          <Switch
            label={t('settings.singleKeys')}
            description={t('settings.singleKeysHint')}
            checked={chosen.singleKeys}
            onChange={(event) => prefer({ singleKeys: event.currentTarget.checked })}
          />
        </Panel>
        <Panel title={t('settings.access')}>
          {!key && who?.by === 'session' && (
            <Group justify="space-between">
              <Text size="sm">{t('signIn.as', { name: who.member ?? who.actor })}</Text>
              <Button variant="default" loading={leaving.isPending} onClick={() => leaving.mutate()}>
                {t('signIn.out')}
              </Button>
            </Group>
          )}
          <Group justify="space-between">
            <Text size="sm">{key ? t('settings.keyHeld') : t('settings.keyNone')}</Text>
            {key && (
              <Button
                variant="default"
                onClick={() => {
                  forgetKey();
                  client.clear();
                  notify(t('key.forgotten'));
                }}
              >
                {t('key.forget')}
              </Button>
            )}
          </Group>
        </Panel>
      </Stack>
    </Page>
  );
}

type ChoiceProps = {
  name: string;
  value: string;
  onChange: (value: string) => void;
  options: { value: string; label: ReactNode }[];
};

function Choice({ name, value, onChange, options }: ChoiceProps) {
  const id = useId();
  return (
    <div className={classes['choice']}>
      <span id={id}>{name}</span>
      <SegmentedControl value={value} onChange={onChange} data={options} aria-labelledby={id} />
    </div>
  );
}
